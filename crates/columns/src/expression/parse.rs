//! Parses the text of a condition into a tree, with `sqlparser`'s grammar. Syntax outside the
//! documented subset is rejected by name.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType as SqlType, ExactNumberInfo, Expr, Ident, TimezoneInfo, UnaryOperator,
    Value as SqlValue,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::number::Exact;
use super::{PredicateError, names};

/// Most operators and words of a condition, to bound recursion over the tree. Lists of values are
/// unbounded.
const MAX_OPERATORS: usize = 256;

/// Deepest nesting of parentheses and `not`. The parser recurses with large frames. Without
/// optimisation, this depth uses at most half of a thread's 2 MB stack.
const MAX_DEPTH: usize = 16;

/// The target of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer of at most this many bits, including the sign.
    Integer(u32),
    /// A number, with at most this many digits in total and fractional digits, if given.
    Decimal(Option<(u32, i32)>),
    /// The nearest double.
    Double,
    /// The nearest single-precision number.
    Float,
    Text,
    Boolean,
    Date,
    /// Without a time zone.
    Timestamp,
    /// With a time zone, so an instant.
    Zoned,
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An expression without column types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Column(String),
    /// A number, with its text.
    Number(String, Exact),
    /// A text in single quotes, typed by its neighbour.
    Quoted(String),
    Boolean(bool),
    Null,
    Cast(Box<Node>, Kind),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    In(Box<Node>, Vec<Node>),
    Like(Box<Node>, String, Option<char>),
    IsNull(Box<Node>),
    /// Is true, or is false. Unknown is neither.
    Is(bool, Box<Node>),
}

/// Parses a text into a tree.
pub(super) fn parse(text: &str) -> Result<Node, PredicateError> {
    read(text, false).map(|(node, _)| node)
}

/// Parses a text into a tree, with the name that `as NAME` gives it, if any.
pub(super) fn parse_named(text: &str) -> Result<(Node, Option<String>), PredicateError> {
    read(text, true)
}

fn read(text: &str, may_be_named: bool) -> Result<(Node, Option<String>), PredicateError> {
    let tokens = tokens(text)?;
    tree(tokens.clone(), may_be_named).map_err(|error| match error {
        PredicateError::Syntax(_) | PredicateError::Unsupported { .. } => {
            let names = names::unquoted(&tokens, |tokens| tree(tokens, may_be_named).is_ok());
            if names.is_empty() { error } else { PredicateError::Unquoted { error: Box::new(error), names } }
        }
        other => other,
    })
}

/// Splits a text into tokens.
fn tokens(text: &str) -> Result<Vec<TokenWithSpan>, PredicateError> {
    let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| syntax(&error.message))?;
    for token in &mut tokens {
        if token.token == Token::DoubleEq {
            token.token = Token::Eq;
        }
    }
    if let Some(comment) = tokens.iter().find_map(comment) {
        return Err(unsupported("a comment", comment));
    }
    Ok(tokens)
}

fn tree(tokens: Vec<TokenWithSpan>, may_be_named: bool) -> Result<(Node, Option<String>), PredicateError> {
    let dialect = GenericDialect {};
    if tokens.iter().filter(|token| nests(&token.token)).count() > MAX_OPERATORS {
        return Err(PredicateError::TooLong { limit: MAX_OPERATORS });
    }
    let mut parser = Parser::new(&dialect).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens);
    let parsed = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => PredicateError::TooDeep { limit: MAX_DEPTH },
        other => syntax(&other.to_string()),
    })?;
    let name = match may_be_named && parser.parse_keyword(Keyword::AS) {
        true => Some(parser.parse_identifier().map_err(|error| syntax(&error.to_string()))?.value),
        false => None,
    };
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        return Err(syntax(&format!("the end, `and` or `or` expected, found: {rest}")));
    }
    Ok((node(&parsed)?, name))
}

fn comment(token: &TokenWithSpan) -> Option<&Token> {
    use sqlparser::tokenizer::Whitespace::{MultiLineComment, SingleLineComment};
    let is_comment = |token: &Token| matches!(token, Token::Whitespace(SingleLineComment { .. } | MultiLineComment(_)));
    Some(&token.token).filter(|token| is_comment(token))
}

/// Whether a token may add a level to the tree. Words that are values or columns, and separators,
/// do not.
fn nests(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.quote_style.is_none() && word.keyword != Keyword::NoKeyword,
        Token::Number(..) | Token::SingleQuotedString(_) | Token::Comma | Token::RParen => false,
        // The sign of a number in a list.
        Token::Minus | Token::Plus => false,
        Token::Whitespace(_) => false,
        _ => true,
    }
}

fn syntax(message: &str) -> PredicateError {
    let message = message.trim_start_matches("sql parser error: ");
    PredicateError::Syntax(message.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn unsupported(what: &'static str, token: impl std::fmt::Display) -> PredicateError {
    PredicateError::Unsupported { what, token: token.to_string() }
}

fn boxed(expression: &Expr) -> Result<Box<Node>, PredicateError> {
    node(expression).map(Box::new)
}

fn negated_if(negated: bool, node: Node) -> Node {
    if negated { Node::Not(Box::new(node)) } else { node }
}

fn node(expression: &Expr) -> Result<Node, PredicateError> {
    Ok(match expression {
        Expr::Identifier(name) => Node::Column(name.value.clone()),
        // The name of a companion such as `salary.additions`. Access to fields of structures is not
        // supported.
        Expr::CompoundIdentifier(names) => Node::Column(joined(names)),
        Expr::Nested(inner) => node(inner)?,
        Expr::Value(value) => literal(&value.value)?,
        Expr::TypedString(typed) => match &typed.value.value {
            SqlValue::SingleQuotedString(text) => {
                Node::Cast(Box::new(Node::Quoted(text.clone())), kind(&typed.data_type)?)
            }
            other => return Err(unsupported("the value", other)),
        },
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, array: false, format: None } => {
            Node::Cast(boxed(expr)?, kind(data_type)?)
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => Node::Not(boxed(expr)?),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => signed(expr, false)?,
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => signed(expr, true)?,
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => chain(left, op, right)?,
        Expr::BinaryOp { left, op, right } => Node::Compare(comparison(op)?, boxed(left)?, boxed(right)?),
        Expr::InList { expr, list, negated } => {
            let list = list.iter().map(node).collect::<Result<Vec<_>, _>>()?;
            negated_if(*negated, Node::In(boxed(expr)?, list))
        }
        Expr::Between { expr, negated, low, high } => {
            let value = boxed(expr)?;
            let low = Node::Compare(Comparison::GreaterOrEqual, value.clone(), boxed(low)?);
            let high = Node::Compare(Comparison::LessOrEqual, value, boxed(high)?);
            negated_if(*negated, Node::And(vec![low, high]))
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char } => like(*negated, expr, pattern, escape_char)?,
        Expr::IsNull(inner) => Node::IsNull(boxed(inner)?),
        Expr::IsNotNull(inner) => Node::Not(Box::new(Node::IsNull(boxed(inner)?))),
        Expr::IsTrue(inner) => Node::Is(true, boxed(inner)?),
        Expr::IsNotTrue(inner) => Node::Not(Box::new(Node::Is(true, boxed(inner)?))),
        Expr::IsFalse(inner) => Node::Is(false, boxed(inner)?),
        Expr::IsNotFalse(inner) => Node::Not(Box::new(Node::Is(false, boxed(inner)?))),
        Expr::Subquery(query) => return Err(unsupported("the subquery", query)),
        Expr::Function(function) => return Err(unsupported("the function", &function.name)),
        other => return Err(unsupported("the expression", other)),
    })
}

fn joined(names: &[Ident]) -> String {
    names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(".")
}

/// Collects the operands of consecutive `and` or `or` operators into one list.
fn chain(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Node, PredicateError> {
    let (mut operands, mut rest) = (vec![node(right)?], left);
    while let Expr::BinaryOp { left, op: inner, right } = rest {
        if inner != op {
            break;
        }
        operands.push(node(right)?);
        rest = left;
    }
    operands.push(node(rest)?);
    operands.reverse();
    Ok(if *op == BinaryOperator::And { Node::And(operands) } else { Node::Or(operands) })
}

fn signed(expression: &Expr, minus: bool) -> Result<Node, PredicateError> {
    match node(expression)? {
        Node::Number(text, value) if minus => Ok(Node::Number(format!("-{text}"), value.negated())),
        Node::Number(text, value) => Ok(Node::Number(text, value)),
        _ => Err(unsupported("a sign before", expression)),
    }
}

fn literal(value: &SqlValue) -> Result<Node, PredicateError> {
    match value {
        SqlValue::Number(text, false) => match Exact::parse(text) {
            Some(number) => Ok(Node::Number(text.clone(), number)),
            None => Err(unsupported("the number", text)),
        },
        SqlValue::SingleQuotedString(text) => Ok(Node::Quoted(text.clone())),
        SqlValue::Boolean(value) => Ok(Node::Boolean(*value)),
        SqlValue::Null => Ok(Node::Null),
        other => Err(unsupported("the value", other)),
    }
}

fn comparison(operator: &BinaryOperator) -> Result<Comparison, PredicateError> {
    match operator {
        BinaryOperator::Eq => Ok(Comparison::Equal),
        BinaryOperator::NotEq => Ok(Comparison::NotEqual),
        BinaryOperator::Lt => Ok(Comparison::Less),
        BinaryOperator::LtEq => Ok(Comparison::LessOrEqual),
        BinaryOperator::Gt => Ok(Comparison::Greater),
        BinaryOperator::GtEq => Ok(Comparison::GreaterOrEqual),
        other => Err(unsupported("the operator", other)),
    }
}

fn like(
    negated: bool,
    value: &Expr,
    pattern: &Expr,
    escape: &Option<sqlparser::ast::ValueWithSpan>,
) -> Result<Node, PredicateError> {
    let Node::Quoted(text) = node(pattern)? else { return Err(unsupported("the pattern", pattern)) };
    let escape = match escape.as_ref().map(|escape| &escape.value) {
        None => None,
        Some(SqlValue::SingleQuotedString(text)) if text.chars().count() == 1 => text.chars().next(),
        Some(other) => return Err(unsupported("the escape", other)),
    };
    // Reject an escape before any other character, whose meaning would be a guess.
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape && !chars.next().is_some_and(|next| matches!(next, '%' | '_') || Some(next) == escape) {
            return Err(unsupported("the pattern", pattern));
        }
    }
    Ok(negated_if(negated, Node::Like(boxed(value)?, text, escape)))
}

fn kind(sql: &SqlType) -> Result<Kind, PredicateError> {
    Ok(match sql {
        SqlType::TinyInt(None) => Kind::Integer(8),
        SqlType::SmallInt(None) => Kind::Integer(16),
        SqlType::Int(None) | SqlType::Integer(None) => Kind::Integer(32),
        SqlType::BigInt(None) => Kind::Integer(64),
        SqlType::Decimal(digits) | SqlType::Numeric(digits) => Kind::Decimal(match digits {
            ExactNumberInfo::None => None,
            ExactNumberInfo::Precision(digits) if (1..=76).contains(digits) => Some((*digits as u32, 0)),
            ExactNumberInfo::PrecisionAndScale(digits, scale)
                if (1..=76).contains(digits) && (0..=*digits as i64).contains(scale) =>
            {
                Some((*digits as u32, *scale as i32))
            }
            _ => return Err(unsupported("the type", sql)),
        }),
        SqlType::Double(ExactNumberInfo::None) | SqlType::DoublePrecision => Kind::Double,
        SqlType::Real => Kind::Float,
        SqlType::Text | SqlType::Varchar(None) => Kind::Text,
        SqlType::Boolean | SqlType::Bool => Kind::Boolean,
        SqlType::Date => Kind::Date,
        SqlType::Time(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Kind::Time,
        SqlType::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Kind::Timestamp,
        SqlType::Timestamp(None, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => Kind::Zoned,
        _ => return Err(unsupported("the type", sql)),
    })
}

impl Node {
    /// The names of its columns.
    ///
    /// # Errors
    /// When it has no column, so that the expression would be the same in every row.
    pub(super) fn sources(&self) -> Result<Vec<String>, PredicateError> {
        let mut names = Vec::new();
        self.columns(&mut names);
        if names.is_empty() { Err(PredicateError::Constant) } else { Ok(names) }
    }

    /// Appends the names of all columns.
    fn columns(&self, names: &mut Vec<String>) {
        match self {
            Node::Column(name) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            Node::Number(..) | Node::Quoted(_) | Node::Boolean(_) | Node::Null => {}
            Node::Cast(inner, _) | Node::Not(inner) | Node::IsNull(inner) | Node::Is(_, inner) => inner.columns(names),
            Node::Like(inner, ..) => inner.columns(names),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().for_each(|node| node.columns(names)),
            Node::Compare(_, left, right) => {
                left.columns(names);
                right.columns(names);
            }
            Node::In(inner, list) => {
                inner.columns(names);
                list.iter().for_each(|node| node.columns(names));
            }
        }
    }
}

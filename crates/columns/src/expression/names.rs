//! Names of columns that are words of SQL as well, and need quotes: without them `user` is a
//! function, and `interval` begins a literal.

use sqlparser::keywords::Keyword::{self, *};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Most words of a text that are tried: each takes one more look at the text.
const MAX_WORDS: usize = 32;

/// The words that conditions are made of, and those that are no words of SQL: in these places they
/// are no names that lack quotes.
pub(super) const OWN: [Keyword; 34] = [
    NoKeyword,
    AND,
    OR,
    NOT,
    IN,
    LIKE,
    ESCAPE,
    BETWEEN,
    IS,
    NULL,
    TRUE,
    FALSE,
    CAST,
    AS,
    TINYINT,
    SMALLINT,
    INT,
    INTEGER,
    BIGINT,
    DECIMAL,
    NUMERIC,
    DOUBLE,
    PRECISION,
    REAL,
    TEXT,
    VARCHAR,
    BOOLEAN,
    BOOL,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    WITHOUT,
    ZONE,
];

/// The words that have to be in quotes for the tokens to be an expression; none if quotes do not
/// help.
pub(super) fn unquoted(tokens: &[TokenWithSpan], is_valid: impl Fn(Vec<TokenWithSpan>) -> bool) -> Vec<String> {
    let mut names = candidates(tokens);
    if names.is_empty() || names.len() > MAX_WORDS || !is_valid(quoted(tokens, &names)) {
        return Vec::new();
    }
    // Most words of SQL are names without quotes too, as `day` and `name` are.
    for name in names.clone() {
        let fewer: Vec<String> = names.iter().filter(|other| **other != name).cloned().collect();
        if is_valid(quoted(tokens, &fewer)) {
            names = fewer;
        }
    }
    names
}

/// Names as they are written in a condition.
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn candidates(tokens: &[TokenWithSpan]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut words = tokens.iter().filter_map(|token| bare(&token.token)).peekable();
    while let Some(word) = words.next() {
        let is_of_type = word.keyword == WITH && words.peek().is_some_and(|next| next.keyword == TIME);
        if !OWN.contains(&word.keyword) && !is_of_type && !names.contains(&word.value) {
            names.push(word.value.clone());
        }
    }
    names
}

/// A word without quotes.
fn bare(token: &Token) -> Option<&Word> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word),
        _ => None,
    }
}

fn quoted(tokens: &[TokenWithSpan], names: &[String]) -> Vec<TokenWithSpan> {
    let quoted = |token: &TokenWithSpan| match bare(&token.token) {
        Some(Word { value, .. }) if names.contains(value) => {
            let word = Word { value: value.clone(), quote_style: Some('"'), keyword: NoKeyword };
            TokenWithSpan { token: Token::Word(word), span: token.span }
        }
        _ => token.clone(),
    };
    tokens.iter().map(quoted).collect()
}

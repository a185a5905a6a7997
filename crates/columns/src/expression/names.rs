//! Column names that are also SQL words and need quotes. Without quotes, `user` is a function and
//! `interval` starts a literal.

use sqlparser::keywords::Keyword::{self, *};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The most words that are tried. Each of them requires another parse of the text.
const MAX_WORDS: usize = 32;

/// The keywords of conditions, and words that are not SQL keywords. They are not treated as names
/// that lack quotes.
pub(super) const GRAMMAR_WORDS: [Keyword; 34] = [
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

/// The words that need quotes for the tokens to form an expression; empty if quotes do not help.
pub(super) fn unquoted(tokens: &[TokenWithSpan], is_valid: impl Fn(Vec<TokenWithSpan>) -> bool) -> Vec<String> {
    let mut names = candidates(tokens);
    if names.is_empty() || names.len() > MAX_WORDS || !is_valid(quoted(tokens, &names)) {
        return Vec::new();
    }
    // Most SQL words are also valid names without quotes, such as `day` and `name`.
    for name in names.clone() {
        let fewer: Vec<String> = names.iter().filter(|other| **other != name).cloned().collect();
        if is_valid(quoted(tokens, &fewer)) {
            names = fewer;
        }
    }
    names
}

/// Names as a condition spells them.
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn candidates(tokens: &[TokenWithSpan]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut words = tokens.iter().filter_map(|token| unquoted_word(&token.token)).peekable();
    while let Some(word) = words.next() {
        let is_of_type = word.keyword == WITH && words.peek().is_some_and(|next| next.keyword == TIME);
        if !GRAMMAR_WORDS.contains(&word.keyword) && !is_of_type && !names.contains(&word.value) {
            names.push(word.value.clone());
        }
    }
    names
}

/// An unquoted word.
fn unquoted_word(token: &Token) -> Option<&Word> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word),
        _ => None,
    }
}

fn quoted(tokens: &[TokenWithSpan], names: &[String]) -> Vec<TokenWithSpan> {
    let quoted = |token: &TokenWithSpan| match unquoted_word(&token.token) {
        Some(Word { value, .. }) if names.contains(value) => {
            let word = Word { value: value.clone(), quote_style: Some('"'), keyword: NoKeyword };
            TokenWithSpan { token: Token::Word(word), span: token.span }
        }
        _ => token.clone(),
    };
    tokens.iter().map(quoted).collect()
}

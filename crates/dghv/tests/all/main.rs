//! Integration tests of the schemes over the integers, linked into one executable.

mod attack;
mod circuits;
mod format;
mod known_answers;
mod ladder;
mod recryption;
mod reference;
mod scheme;
mod vectors;

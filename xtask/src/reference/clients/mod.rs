//! The generated part of the clients of other languages: types, codes and routes.

mod go;
mod java;
mod model;
mod python;
mod typescript;

use super::Page;
use model::Model;

/// The first line of each file.
const HEAD: &str =
    "Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.";

/// Their paths from the top of the repository.
pub const PATHS: [&str; 4] = [
    "clients/typescript/src/generated.ts",
    "clients/python/src/scarce_client/_generated.py",
    "clients/go/generated.go",
    "clients/java/src/main/java/io/github/scarce_rs/Api.java",
];

/// The files: path and contents.
pub fn files() -> [Page; PATHS.len()] {
    let model = Model::new();
    let texts = [typescript::file(&model), python::file(&model), go::file(&model), java::file(&model)];
    let mut texts = texts.into_iter();
    PATHS.map(|path| (path.to_owned(), texts.next().unwrap_or_default()))
}

/// A text in lines of up to so many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

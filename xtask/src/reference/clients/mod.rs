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

/// What their paths begin with, from the top of the repository: folders and files.
pub const PREFIXES: [&str; 4] = [typescript::FOLDER, python::FOLDER, go::PATH, java::PATH];

/// The files: path and contents.
pub fn files() -> impl Iterator<Item = Page> {
    let model = Model::new();
    let of_typescript =
        typescript::files(&model).map(|(name, text)| (format!("{}/{name}", typescript::FOLDER), text));
    let of_python = python::files(&model).map(|(name, text)| (format!("{}/{name}", python::FOLDER), text));
    let others = [(go::PATH, go::file(&model)), (java::PATH, java::file(&model))];
    let others = others.map(|(path, text)| (path.to_owned(), text));
    of_typescript.into_iter().chain(of_python).chain(others)
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

//! The syntax of `nginx.conf`: directives that end with `;` or have a block. Source: nginx's
//! documentation, "Beginner's Guide", and `ngx_conf_file` for quotes and comments.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::import::{Directive, Place};

/// Files that one file may include, each with those that it includes.
const FILES_MAX: usize = 1_000;
/// How deep blocks and included files may be nested.
const DEPTH_MAX: usize = 32;

/// A directive with the directives of its block.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) at: Directive,
    pub(super) inside: Vec<Self>,
}

impl Block {
    pub(super) fn name(&self) -> &str {
        self.at.name()
    }

    /// Directives of a name inside.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.inside.iter().filter(move |block| block.name() == name)
    }

    /// The first directive of a name inside.
    pub(super) fn first(&self, name: &str) -> Option<&Self> {
        self.inside.iter().find(|block| block.name() == name)
    }
}

/// Reads a file with those that it includes.
///
/// # Errors
/// A file that cannot be read; the line of a damaged directive.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Block>> {
    let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
    Reader { folder, files: 0 }.file(file, 0)
}

struct Reader {
    /// Names of included files are relative to it.
    folder: PathBuf,
    files: usize,
}

impl Reader {
    fn file(&mut self, file: &Path, depth: usize) -> anyhow::Result<Vec<Block>> {
        self.files += 1;
        anyhow::ensure!(
            self.files <= FILES_MAX && depth < DEPTH_MAX,
            "{}: too many files are included; does one include itself?",
            file.display()
        );
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(&self.folder).unwrap_or(file).display().to_string();
        let tokens = tokens(&name, &text)?;
        let mut rest = tokens.as_slice();
        let blocks = self.blocks(&mut rest, depth, None)?;
        Ok(blocks)
    }

    /// Directives up to the end of the block that was opened at a place, or of the file.
    fn blocks(
        &mut self,
        rest: &mut &[Token],
        depth: usize,
        opened: Option<&Place>,
    ) -> anyhow::Result<Vec<Block>> {
        let mut blocks = Vec::new();
        let mut at = Directive::default();
        while let Some((token, tail)) = rest.split_first() {
            *rest = tail;
            let place = &token.place;
            match &token.kind {
                Kind::Word(word) => {
                    if at.words.is_empty() {
                        at.place = place.clone();
                    }
                    at.words.push(word.clone());
                }
                Kind::End if at.name() == "include" => {
                    for file in included(&self.folder, at.parameter(0))? {
                        blocks.extend(self.file(&file, depth + 1)?);
                    }
                    at = Directive::default();
                }
                Kind::End => blocks.push(Block { at: std::mem::take(&mut at), inside: Vec::new() }),
                Kind::Open => {
                    anyhow::ensure!(depth < DEPTH_MAX, "{place}: blocks are nested too deeply");
                    let at = std::mem::take(&mut at);
                    let inside = self.blocks(rest, depth + 1, Some(place))?;
                    blocks.push(Block { at, inside });
                }
                Kind::Close if opened.is_some() && at.words.is_empty() => return Ok(blocks),
                Kind::Close => anyhow::bail!("{place}: unexpected '}}'"),
            }
        }
        match opened {
            Some(place) => anyhow::bail!("{place}: the block that begins here does not end"),
            None if !at.words.is_empty() => {
                anyhow::bail!("{}: the directive '{}' does not end with ';'", at.place, at.name())
            }
            None => Ok(blocks),
        }
    }
}

/// Files of a name with `*` in its last part, in the order of their names.
fn included(folder: &Path, pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let path = folder.join(pattern);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((start, end)) = name.split_once('*') else { return Ok(vec![path]) };
    let parent = path.parent().unwrap_or(folder);
    let Ok(entries) = std::fs::read_dir(parent) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| parent.display().to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let long = name.len() >= start.len() + end.len();
        if long && name.starts_with(start) && name.ends_with(end) && !name.starts_with('.') {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Debug)]
struct Token {
    place: Place,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Word(String),
    /// `;`
    End,
    /// `{`
    Open,
    /// `}`
    Close,
}

fn tokens(file: &str, text: &str) -> anyhow::Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut place = Place { file: file.to_owned(), line: 1 };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let here = place.clone();
        let kind = match c {
            '\n' => {
                place.line += 1;
                continue;
            }
            c if c.is_whitespace() => continue,
            '#' => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            ';' => Kind::End,
            '{' => Kind::Open,
            '}' => Kind::Close,
            '"' | '\'' => {
                let mut word = String::new();
                loop {
                    match chars.next() {
                        None => anyhow::bail!("{here}: a quote does not end"),
                        Some(end) if end == c => break,
                        Some('\\') => escaped(chars.next(), &mut word),
                        Some(other) => {
                            place.line += usize::from(other == '\n');
                            word.push(other);
                        }
                    }
                }
                Kind::Word(word)
            }
            first => {
                // `${name}` is part of a word.
                let mut word = String::from(first);
                let mut braces = 0;
                while let Some(c) = chars.peek().copied() {
                    match c {
                        '{' if word.ends_with('$') => braces += 1,
                        '}' if braces > 0 => braces -= 1,
                        '{' | '}' | ';' => break,
                        c if c.is_whitespace() => break,
                        _ => {}
                    }
                    chars.next();
                    match c {
                        '\\' => escaped(chars.next(), &mut word),
                        c => word.push(c),
                    }
                }
                Kind::Word(word)
            }
        };
        tokens.push(Token { place: here, kind });
    }
    Ok(tokens)
}

/// The character after a backslash; nginx keeps the backslash before others than these.
fn escaped(c: Option<char>, word: &mut String) {
    match c {
        Some('n') => word.push('\n'),
        Some('r') => word.push('\r'),
        Some('t') => word.push('\t'),
        Some(c @ ('"' | '\'' | '\\')) => word.push(c),
        Some(c) => word.extend(['\\', c]),
        None => {}
    }
}

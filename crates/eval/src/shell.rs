//! Values in shell commands: quoted so that a value stays one value, wherever the template of the command has it.
//!
//! Values of macros come from monitored hosts and from users who may not change the command. A [`Quoter`] follows the
//! template as a POSIX shell does, and writes each value in the form that its place needs. Where a shell would read the
//! value by other rules (backquotes, here-documents, parameters, comments), signs with a meaning are replaced by `_`.

/// Follows the template of a command.
#[derive(Debug)]
pub struct Quoter<'t> {
    text: &'t str,
    /// Up to where the template is followed.
    at: usize,
    frames: Vec<Frame>,
    /// The next character is escaped.
    escaped: bool,
    previous: char,
    /// The template has something that is not followed: values lose all signs from here on.
    lost: bool,
    /// Patterns of `case` have parentheses of their own, which are not followed.
    has_case: bool,
    /// Values have no line breaks and no other control characters: the command goes through a terminal.
    one_line: bool,
}

/// What the template is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `$(`, with the parentheses that are open in it.
    Substitution(usize),
    Single,
    Double,
    Backquotes,
    /// `${`
    Parameter,
    Comment,
}

/// Signs that mean nothing to a shell, within a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "_-.:,/@%+".contains(c)
}

impl<'t> Quoter<'t> {
    /// A template. `one_line`: control characters of values become blanks.
    pub fn new(text: &'t str, one_line: bool) -> Self {
        Self {
            text,
            at: 0,
            frames: Vec::new(),
            escaped: false,
            previous: '\n',
            lost: false,
            has_case: text.contains("case"),
            one_line,
        }
    }

    /// The form of a value that stands for these bytes of the template. To be called in their order.
    pub fn quote(&mut self, span: std::ops::Range<usize>, value: &str) -> String {
        self.follow(span);
        let value = self.tidy(value);
        let quoted = match (self.is_strict(), self.frames.last()) {
            (true, _) => {
                let keep = |c: char| if is_plain(c) || c == ' ' { c } else { '_' };
                value.chars().map(keep).collect()
            }
            (_, Some(Frame::Single)) => value.replace('\'', "'\\''"),
            (_, Some(Frame::Double)) => {
                let mut out = String::with_capacity(value.len());
                for c in value.chars() {
                    if matches!(c, '\\' | '"' | '$' | '`') {
                        out.push('\\');
                    }
                    out.push(c);
                }
                out
            }
            _ if value.chars().all(is_plain) => value,
            _ => format!("'{}'", value.replace('\'', "'\\''")),
        };
        if !quoted.is_empty() {
            (self.escaped, self.previous) = (false, 'x');
        }
        quoted
    }

    /// The same of a value that is a part of the command, such as a global macro.
    pub fn trusted(&mut self, span: std::ops::Range<usize>, value: String) -> String {
        self.follow(span);
        self.has_case |= value.contains("case");
        value.chars().for_each(|c| self.step(c));
        value
    }

    fn tidy(&self, value: &str) -> String {
        let value = value.chars().filter(|c| *c != '\0');
        let one_line = self.one_line;
        value.map(|c| if one_line && c.is_control() { ' ' } else { c }).collect()
    }

    fn follow(&mut self, span: std::ops::Range<usize>) {
        let text = self.text;
        text.get(self.at..span.start).unwrap_or_default().chars().for_each(|c| self.step(c));
        self.at = span.end;
    }

    fn is_strict(&self) -> bool {
        use Frame::{Backquotes, Comment, Parameter, Single};
        let odd = |frame: &Frame| matches!(frame, Backquotes | Parameter | Comment);
        let dollar = self.previous == '$' && self.frames.last() != Some(&Single);
        self.lost || self.escaped || dollar || self.frames.iter().any(odd)
    }

    fn step(&mut self, c: char) {
        if std::mem::take(&mut self.escaped) {
            self.previous = 'x';
            return;
        }
        match self.frames.last().copied() {
            Some(Frame::Single) => self.ends_with('\'', c),
            Some(Frame::Comment) => self.ends_with('\n', c),
            Some(Frame::Backquotes) if c == '\\' => self.escaped = true,
            Some(Frame::Backquotes) => self.ends_with('`', c),
            Some(Frame::Parameter) => {
                self.lost |= matches!(c, '\'' | '"' | '\\' | '$' | '`');
                self.ends_with('}', c);
            }
            Some(Frame::Double) if c == '"' => drop(self.frames.pop()),
            Some(Frame::Double) => self.step_quoted(c),
            Some(Frame::Substitution(_)) | None => self.step_plain(c),
        }
        self.previous = c;
    }

    fn ends_with(&mut self, end: char, c: char) {
        if c == end {
            self.frames.pop();
        }
    }

    /// What has a meaning in double quotes, too.
    fn step_quoted(&mut self, c: char) {
        match (self.previous, c) {
            (_, '\\') => self.escaped = true,
            (_, '`') => self.frames.push(Frame::Backquotes),
            ('$', '(') => {
                self.frames.push(Frame::Substitution(0));
                self.lost |= self.has_case;
            }
            ('$', '{') => self.frames.push(Frame::Parameter),
            _ => {}
        }
    }

    fn step_plain(&mut self, c: char) {
        match (self.previous, c) {
            // `$'`, `<<`, `$((`: read by rules of their own.
            ('$', '\'') | ('<', '<') => self.lost = true,
            (_, '\'') => self.frames.push(Frame::Single),
            (_, '"') => self.frames.push(Frame::Double),
            (before, '#') if before.is_whitespace() || ";|&()".contains(before) => {
                self.frames.push(Frame::Comment);
            }
            (before, '(') if before != '$' => match self.frames.last_mut() {
                Some(Frame::Substitution(0)) if before == '(' => self.lost = true,
                Some(Frame::Substitution(open)) => *open += 1,
                _ => {}
            },
            (_, ')') => match self.frames.last_mut() {
                Some(Frame::Substitution(0)) => drop(self.frames.pop()),
                Some(Frame::Substitution(open)) => *open -= 1,
                _ => {}
            },
            _ => self.step_quoted(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "{}";

    fn fill(template: &str, value: &str, one_line: bool) -> String {
        let mut quoter = Quoter::new(template, one_line);
        let (mut out, mut last) = (String::new(), 0);
        for (at, _) in template.match_indices(MARK) {
            out.push_str(&template[last..at]);
            last = at + MARK.len();
            out.push_str(&quoter.quote(at..last, value));
        }
        out + &template[last..]
    }

    #[test]
    fn each_place_has_its_form() {
        for (template, value, expected) in [
            ("echo {}", "web-1.example:80", "echo web-1.example:80"),
            ("echo {}", "", "echo "),
            ("echo {}", "a b", "echo 'a b'"),
            ("echo {}", "it's", "echo 'it'\\''s'"),
            ("{} x", "A=b", "'A=b' x"),
            ("echo '{}'", "it's $(id) \"x\"", "echo 'it'\\''s $(id) \"x\"'"),
            ("echo \"{}\"", "a \"b\" $(id) `id` \\", "echo \"a \\\"b\\\" \\$(id) \\`id\\` \\\\\""),
            ("echo \"$(date) {}\"", "$(id)", "echo \"$(date) \\$(id)\""),
            ("echo \"$(printf %s {})\"", "$(id)", "echo \"$(printf %s '$(id)')\""),
            ("echo `echo {}`", "$(id);a b", "echo `echo __id__a b`"),
            ("echo \\{}", "'; id", "echo \\__ id"),
            ("echo ${}", "(id)", "echo $_id_"),
            ("echo ${x:-{}}", "}'; id", "echo ${x:-___ id}"),
            ("# {}\nx", "a\nid", "# a_id\nx"),
            ("x {}# {}", "a\nid", "x 'a\nid'# 'a\nid'"),
            ("cat <<E\n{}\nE", "$(id)", "cat <<E\n__id_\nE"),
            ("echo $'{}'", "'; id", "echo $'__ id'"),
            ("echo $(( {} ))", "a[$(id)]", "echo $(( a___id__ ))"),
            (
                "echo \"$(case a in a) echo {};; esac)\"",
                "\";id",
                "echo \"$(case a in a) echo __id;; esac)\"",
            ),
        ] {
            assert_eq!(fill(template, value, false), expected, "{template}");
        }
        assert_eq!(fill("{} '{}'", "a\r\nb\u{3}\0", true), "'a  b ' 'a  b '");
        let mut quoter = Quoter::new("{} {}", false);
        assert_eq!(quoter.trusted(0..2, "echo '".to_owned()), "echo '");
        assert_eq!(quoter.quote(3..5, "a'b"), "a'\\''b", "a trusted value opens quotes");
        let mut quoter = Quoter::new("{} {};; esac)\"", false);
        let begin = "echo \"$(case a in a) echo".to_owned();
        quoter.trusted(0..2, begin);
        assert_eq!(quoter.quote(3..5, ";id"), "_id", "in a command that is not followed");
    }

    /// A real shell runs all of them, and nothing of a value is ever run.
    #[test]
    fn a_shell_runs_nothing_of_a_value() {
        let file = std::env::temp_dir().join(format!("vedette-shell-{}", std::process::id()));
        let run = format!("touch {}", file.display());
        let values = [
            format!("; {run} ;"),
            format!("$({run})"),
            format!("`{run}`"),
            format!("'; {run}; '"),
            format!("\"; {run}; \""),
            format!("\\'; {run}; \\\""),
            format!("\n{run}\n"),
            format!("a\nE\n{run}\n"),
            format!(") ; {run} ; ("),
            format!("}} ; {run} ; {{"),
            format!("a && {run} || {run} & {run} | {run}"),
            format!("\\\n{run}"),
            format!("x[$({run})]"),
        ];
        let one = [
            "printf '%s' {}",
            "printf '%s' '{}'",
            "printf '%s' \"{}\"",
            "printf '%s' a'b'\"{}\" | cut -c3-",
        ];
        let more = [
            "printf '%s' \"$(printf '%s' {})\" '{}'",
            "printf '%s' `printf '%s' {}` \"`echo '{}'`\"",
            "printf '%s' \\{} \"\\{}\" ${} \"${}\"",
            "printf '%s' ${x:-{}} \"${x:-'{}'}\" {}",
            "cat <<E\n{}\nE\necho {}",
            "cat <<'E'\n{}\nE\necho '{}'",
            "true # it's {}\necho \"{}\" # {}",
            "{}#{}\n",
            "echo $((1)) {} \"$((2))\" \"{}\"",
            "(echo {}; (echo \"{}\")) ; echo \"$( (echo '{}') )\" {}",
            "echo \"$(case a in a) echo {};; esac)\" {}",
            "echo $'{}' {} $\"{}\" '{}'",
            "echo \"it's {}\" 'say \"{}' {}",
        ];
        for template in one.into_iter().chain(more) {
            for value in &values {
                let command = fill(template, value, false);
                let ended =
                    std::process::Command::new("/bin/sh").arg("-c").arg(&command).output().unwrap();
                assert!(!file.exists(), "{command}");
                let exact = one.contains(&template) && !template.contains("cut");
                if exact {
                    assert_eq!(String::from_utf8_lossy(&ended.stdout), *value, "{command}");
                }
            }
        }
    }
}

//! Patterns for case ids: `*` is any run of characters, `?` any one.

/// Whether `pattern` matches the whole of `text`. A pattern without a slash names an area.
pub fn matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['/', '*', '?']) {
        return text.split('/').next() == Some(pattern);
    }
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut on) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while on < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, on));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[on] => {
                at += 1;
                on += 1;
            }
            Some(_) | None => match star {
                Some((back, taken)) => {
                    at = back + 1;
                    on = taken + 1;
                    star = Some((back, taken + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn ids_areas_and_patterns() {
        assert!(matches("end/07", "end/07"));
        assert!(matches("end", "end/07"));
        assert!(matches("end/*", "end/07"));
        assert!(matches("*/0?", "end/07"));
        assert!(matches("*d*7*", "end/07"));
        assert!(!matches("end/0", "end/07"));
        assert!(!matches("en", "end/07"));
        assert!(!matches("end/?", "end/07"));
        assert!(!matches("*8", "end/07"));
    }
}

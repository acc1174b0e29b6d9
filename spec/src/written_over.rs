//! Copies of an actor's state that are written over older ones: what lists have on the heap is used again, and lists of
//! plain values are copied as a piece. A derived `Clone` does neither, and to copy states is much of a search's work.

/// Implements `Clone` for a struct, of which every field is named: first plain values, then lists of plain values, then
/// what has a `Clone` of its own.
macro_rules! written_over {
    ($name:ident {
        values: [$($value:ident),* $(,)?],
        lists: [$($list:ident),* $(,)?],
        others: [$($other:ident),* $(,)?] $(,)?
    }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                Self {
                    $($value: self.$value,)*
                    $($list: $crate::types::List::from_slice(&self.$list),)*
                    $($other: self.$other.clone(),)*
                }
            }

            fn clone_from(&mut self, source: &Self) {
                let Self { $($value,)* $($list,)* $($other,)* } = self;
                $(*$value = source.$value;)*
                $(
                    $list.clear();
                    $list.extend_from_slice(&source.$list);
                )*
                $($other.clone_from(&source.$other);)*
            }
        }
    };
}

pub(crate) use written_over;

#[cfg(test)]
mod tests {
    use crate::types::List;

    #[derive(Debug, PartialEq)]
    struct Sample {
        value: u8,
        list: List<u8, 2>,
        other: Vec<u8>,
    }

    written_over!(Sample {
        values: [value],
        lists: [list],
        others: [other],
    });

    fn sample(value: u8, length: usize) -> Sample {
        Sample {
            value,
            list: (0..length).map(|item| value + item as u8).collect(),
            other: vec![value; length],
        }
    }

    #[test]
    fn a_copy_is_equal_whatever_it_is_written_over() {
        for length in 0..5 {
            let source = sample(1, length);
            assert_eq!(source.clone(), source);
            for before in 0..5 {
                let mut copy = sample(9, before);
                copy.clone_from(&source);
                assert_eq!(copy, source);
            }
        }
    }
}

//! Counters, of which there is one list: sums, differences and names follow from it.

/// Declares a struct of counters. Its fields may be anything that can be added and subtracted: numbers, or other counters.
///
/// `a + b` and `a - b` work field by field; a difference of what was counted now and before never goes below zero, since
/// counters only grow.
#[macro_export]
macro_rules! counters {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $Type:ty,)+
    }) => {
        $(#[$meta])*
        $vis struct $Name {
            $($(#[$doc])* $field_vis $field: $Type,)+
        }

        impl ::core::ops::Add for $Name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field,)+ }
            }
        }

        impl ::core::ops::Sub for $Name {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)+ }
            }
        }

        impl ::core::iter::Sum for $Name {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), |sum, own| sum + own)
            }
        }
    };
}

/// Declares the causes for which something is counted, one line each, and a table with a value for each cause.
///
/// A line gives the variant, its name in results and its meaning; then, where they differ from the name, the label in charts and
/// the group that charts show it in.
#[macro_export]
macro_rules! causes {
    ($(#[$meta:meta])* $vis:vis enum $Cause:ident;
     $(#[$table_meta:meta])* $table_vis:vis struct $Table:ident;
     $($Variant:ident = $name:literal, $meaning:literal $(, label: $label:literal)? $(, group: $group:literal)?;)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, outlast_persist::Persist)]
        $vis enum $Cause {
            $(#[doc = $meaning] $Variant,)+
        }

        impl $Cause {
            /// How many there are.
            pub const COUNT: usize = [$($name,)+].len();
            /// All, in the order of results.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$Variant,)+];

            /// The name in results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ }
            }

            /// What is counted, as the reference of figures says it.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$Variant => $meaning,)+ }
            }

            /// What charts call it, or the group in which they show it.
            pub const fn label(self) -> &'static str {
                const fn last(all: &[&'static str]) -> &'static str { all[all.len() - 1] }
                match self { $(Self::$Variant => last(&[$name $(, $label)?]),)+ }
            }

            /// The name of the group in which charts show it: its own, unless several are shown as one.
            pub const fn group(self) -> &'static str {
                const fn last(all: &[&'static str]) -> &'static str { all[all.len() - 1] }
                match self { $(Self::$Variant => last(&[$name $(, $group)?]),)+ }
            }
        }

        $(#[$table_meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
        $table_vis struct $Table<T>([T; $Cause::COUNT]);

        impl<T: Copy> $Table<T> {
            /// A value for each cause.
            pub fn of(value: impl FnMut($Cause) -> T) -> Self {
                Self($Cause::ALL.map(value))
            }

            /// Causes and values, in the order of results.
            pub fn iter(&self) -> impl Iterator<Item = ($Cause, T)> + '_ {
                $Cause::ALL.into_iter().zip(self.0)
            }

            /// The table with every value replaced.
            #[must_use]
            pub fn map<U: Copy>(&self, f: impl FnMut(T) -> U) -> $Table<U> {
                $Table(self.0.map(f))
            }
        }

        impl<T: Copy + ::core::iter::Sum> $Table<T> {
            /// The sum over all causes.
            pub fn total(&self) -> T {
                self.0.into_iter().sum()
            }

            /// The sum over the causes of a group.
            pub fn of_group(&self, group: &str) -> T {
                self.iter().filter(|(cause, _)| cause.group() == group).map(|(_, value)| value).sum()
            }
        }

        impl<T> ::core::ops::Index<$Cause> for $Table<T> {
            type Output = T;
            #[inline]
            fn index(&self, cause: $Cause) -> &T {
                &self.0[cause as usize]
            }
        }

        impl<T> ::core::ops::IndexMut<$Cause> for $Table<T> {
            #[inline]
            fn index_mut(&mut self, cause: $Cause) -> &mut T {
                &mut self.0[cause as usize]
            }
        }

        impl<T: Copy + ::core::ops::Add<Output = T>> ::core::ops::Add for $Table<T> {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self::of(|cause| self[cause] + other[cause])
            }
        }

        impl<T: Copy + ::core::ops::Sub<Output = T>> ::core::ops::Sub for $Table<T> {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self::of(|cause| self[cause] - earlier[cause])
            }
        }

        impl<T: Copy + Default + ::core::ops::Add<Output = T>> ::core::iter::Sum for $Table<T> {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), |sum, own| sum + own)
            }
        }
    };
}

//! Derives [`Persist`](macro@Persist) and [`Restore`](macro@Restore), so that no list of fields is written by hand and none can be forgotten.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, GenericArgument, Index, Member, PathArguments,
    Result, Type, parse_macro_input,
};

/// A value that is written and read by itself: every field, in order; of an enum the number of the variant, too.
///
/// `#[persist(skip)]`: a field that is not written, and is `Default::default()` when read. `#[persist(fixed)]`: one that follows from the
/// settings; where the value takes the place of one that was built from them, what was read must equal it. Of the whole: `#[persist(check)]`, as for
/// [`Restore`](macro@Restore).
#[proc_macro_derive(Persist, attributes(persist))]
pub fn persist(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    value(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// A part of a machine, which takes over the state of another that was built from the same settings.
///
/// `#[persist(skip)]`: a field that follows from the settings, and stays as it is. `#[persist(each)]`: as many entries as the settings say
/// (a table, an array, an `Option`), each of which is restored in its place. `#[persist(grow)]`: a table with at least so many.
///
/// Of the whole: `#[persist(within)]`, its method `extents(&self, outer: &Extents) -> Extents` says how far numbers in it reach;
/// `#[persist(check)]`, its method `check_restored(&self) -> Result<(), String>` says whether what was read can be.
#[proc_macro_derive(Restore, attributes(persist))]
pub fn restore(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    part(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// How a field is treated.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Whole,
    Each,
    Grow,
    Skip,
    Fixed,
}

fn way(attributes: &[Attribute]) -> Result<Way> {
    let mut way = Way::Whole;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("persist")) {
        attribute.parse_nested_meta(|meta| {
            way = match () {
                () if meta.path.is_ident("skip") => Way::Skip,
                () if meta.path.is_ident("each") => Way::Each,
                () if meta.path.is_ident("grow") => Way::Grow,
                () if meta.path.is_ident("fixed") => Way::Fixed,
                () => return Err(meta.error("skip, fixed, each or grow")),
            };
            Ok(())
        })?;
    }
    Ok(way)
}

/// What is done about a whole type besides its fields.
#[derive(Default)]
struct Whole {
    is_checked: bool,
    has_extents: bool,
}

impl Whole {
    fn of(input: &DeriveInput) -> Result<Self> {
        let mut whole = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("persist")) {
            attribute.parse_nested_meta(|meta| {
                match () {
                    () if meta.path.is_ident("check") => whole.is_checked = true,
                    () if meta.path.is_ident("within") => whole.has_extents = true,
                    () => return Err(meta.error("check or within")),
                }
                Ok(())
            })?;
        }
        Ok(whole)
    }

    /// Reading a value, with the check of it.
    fn checked(&self, read: TokenStream) -> TokenStream {
        if !self.is_checked {
            return read;
        }
        let check = self.check(&quote!(&own));
        quote! {
            let read = |from: &mut ::outlast_persist::Reader<'_>| -> ::core::result::Result<Self, ::outlast_persist::Damage> { #read };
            let own = read(from)?;
            #check
            Ok(own)
        }
    }

    /// The check of `own`, which has been read.
    fn check(&self, own: &TokenStream) -> TokenStream {
        if self.is_checked {
            quote!(Self::check_restored(#own).map_err(::outlast_persist::Damage::State)?;)
        } else {
            TokenStream::new()
        }
    }
}

/// A field with its name or number.
fn named(fields: &Fields) -> Result<Vec<(Member, &Field, Way)>> {
    let name = |(at, field): (usize, &Field)| {
        field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(at)), Member::Named)
    };
    fields.iter().enumerate().map(|(at, field)| Ok((name((at, field)), field, way(&field.attrs)?))).collect()
}

/// The expression of the shape of `name`, made of these parts.
fn shape(name: &str, parts: &[(String, TokenStream)]) -> TokenStream {
    let (names, shapes): (Vec<_>, Vec<_>) = parts.iter().map(|(name, shape)| (name, shape)).unzip();
    quote!(::outlast_persist::shape(#name, &[#((#names, #shapes)),*]))
}

/// For each field of a value built from the settings, the check that another value's may take its place. Of an enum there is none: its variants
/// hold what the machine does.
fn fits(input: &DeriveInput) -> Result<Vec<TokenStream>> {
    let Data::Struct(data) = &input.data else { return Ok(Vec::new()) };
    let fields = named(&data.fields)?.into_iter().filter(|(.., way)| *way != Way::Skip);
    let fits = fields.map(|(member, _, way)| {
        let name = format!("{}.{}", input.ident, quote!(#member));
        if way == Way::Fixed {
            quote!(if self.#member != read.#member { return Err(::outlast_persist::Damage::Setting(#name)); })
        } else {
            quote!(::outlast_persist::Persist::fits(&self.#member, &read.#member)?;)
        }
    });
    Ok(fits.collect())
}

fn value(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let mut parts = Vec::new();
    let mut of =
        |scope: &str, fields: &Fields| -> Result<(Vec<TokenStream>, Vec<TokenStream>, Vec<TokenStream>)> {
            let (mut patterns, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
            for (at, (member, field, way)) in named(fields)?.into_iter().enumerate() {
                let (ty, bound) = (&field.ty, format_ident!("field_{at}"));
                match way {
                    Way::Each | Way::Grow => {
                        return Err(Error::new_spanned(field, "each is of parts, which Restore derives"));
                    }
                    Way::Skip => {
                        patterns.push(quote!(#member: _));
                        reads.push(quote!(#member: ::core::default::Default::default()));
                    }
                    Way::Whole | Way::Fixed => {
                        patterns.push(quote!(#member: #bound));
                        writes.push(quote!(::outlast_persist::Persist::write(#bound, to);));
                        reads.push(quote!(#member: <#ty as ::outlast_persist::Persist>::read(from)?));
                        let own = format!("{scope}{}", quote!(#member));
                        parts.push((own, quote!(<#ty as ::outlast_persist::Persist>::SHAPE)));
                    }
                }
            }
            Ok((patterns, writes, reads))
        };
    let (write, read) = match &input.data {
        Data::Struct(data) => {
            let (patterns, writes, reads) = of("", &data.fields)?;
            (quote!(let Self { #(#patterns),* } = self; #(#writes)*), quote!(Ok(Self { #(#reads),* })))
        }
        Data::Enum(data) => {
            let (mut writes, mut reads) = (Vec::new(), Vec::new());
            for (number, variant) in (0u8..).zip(&data.variants) {
                let ident = &variant.ident;
                let (patterns, own, fields) = of(&format!("{ident}."), &variant.fields)?;
                writes.push(quote!(Self::#ident { #(#patterns),* } => { ::outlast_persist::Persist::write(&#number, to); #(#own)* }));
                reads.push(quote!(#number => Ok(Self::#ident { #(#fields),* })));
            }
            let variants = data.variants.iter().map(|variant| (variant.ident.to_string(), quote!(0)));
            parts.extend(variants);
            let what = name.to_string();
            let other = quote!(other => Err(::outlast_persist::Damage::Value { what: #what, value: u64::from(other) }));
            let number = quote!(<u8 as ::outlast_persist::Persist>::read(from)?);
            (quote!(match self { #(#writes)* }), quote!(match #number { #(#reads,)* #other }))
        }
        Data::Union(_) => return Err(Error::new_spanned(name, "a union has no fields to write")),
    };
    let fits = fits(input)?;
    let shape = shape(&name.to_string(), &parts);
    let whole = Whole::of(input)?;
    let read = whole.checked(read);
    let mut generics = input.generics.clone();
    for own in generics.type_params_mut() {
        own.bounds.push(syn::parse_quote!(::outlast_persist::Persist));
    }
    let (head, of, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #head ::outlast_persist::Persist for #name #of #bounds {
            const SHAPE: u64 = #shape;
            fn write(&self, to: &mut ::outlast_persist::Writer<'_>) { #write }
            fn read(from: &mut ::outlast_persist::Reader<'_>) -> ::core::result::Result<Self, ::outlast_persist::Damage> { #read }
            #[inline]
            #[allow(clippy::float_cmp)] // The same settings give the same number.
            fn fits(&self, read: &Self) -> ::core::result::Result<(), ::outlast_persist::Damage> { #(#fits)* Ok(()) }
        }
    })
}

fn part(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a part is a struct"));
    };
    let (mut parts, mut saves, mut restores) = (Vec::new(), Vec::new(), Vec::new());
    for (member, field, way) in named(&data.fields)? {
        let own = quote!(#member).to_string();
        match way {
            Way::Skip => {}
            Way::Fixed => {
                return Err(Error::new_spanned(field, "what follows from settings is skipped in a part"));
            }
            Way::Whole => {
                let ty = &field.ty;
                saves.push(quote!(::outlast_persist::Restore::save(&self.#member, to);));
                restores.push(quote!(::outlast_persist::Restore::restore(&mut self.#member, from)?;));
                parts.push((own, quote!(<#ty as ::outlast_persist::Restore>::SHAPE)));
            }
            Way::Each | Way::Grow => {
                let ty = entry(&field.ty)?;
                saves.push(quote! {
                    to.count(self.#member.iter().count());
                    for entry in self.#member.iter() { <#ty as ::outlast_persist::Restore>::save(entry, to); }
                });
                restores.push(if way == Way::Grow {
                    quote!(::outlast_persist::Table::restore_grown(&mut self.#member, #own, from)?;)
                } else { quote! {
                    from.expect_count(#own, self.#member.iter().count())?;
                    for entry in self.#member.iter_mut() { <#ty as ::outlast_persist::Restore>::restore(entry, from)?; }
                }});
                parts.push((own, quote!(<#ty as ::outlast_persist::Restore>::SHAPE)));
            }
        }
    }
    let shape = shape(&name.to_string(), &parts);
    let whole = Whole::of(input)?;
    let (begin, end) = if whole.has_extents {
        let extents = quote!(let extents = Self::extents(self, from.extents()););
        (quote!(#extents let outer = from.set_extents(extents);), quote!(from.set_extents(outer);))
    } else {
        Default::default()
    };
    let check = whole.check(&quote!(self));
    let mut generics = input.generics.clone();
    for own in generics.type_params_mut() {
        own.bounds.push(syn::parse_quote!(::outlast_persist::Persist));
    }
    let (head, of, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #head ::outlast_persist::Restore for #name #of #bounds {
            const SHAPE: u64 = #shape;
            fn save(&self, to: &mut ::outlast_persist::Writer<'_>) { #(#saves)* }
            fn restore(&mut self, from: &mut ::outlast_persist::Reader<'_>) -> ::core::result::Result<(), ::outlast_persist::Damage> {
                #begin
                #(#restores)*
                #end
                #check
                Ok(())
            }
        }
    })
}

/// The type of the entries of a table, which is the last parameter of the table's; a box around an entry does not count.
fn entry(table: &Type) -> Result<&Type> {
    let parameter = match table {
        Type::Array(array) => Some(&*array.elem),
        Type::Path(path) => path.path.segments.last().and_then(|last| match &last.arguments {
            PathArguments::AngleBracketed(of) => of.args.iter().rev().find_map(|own| match own {
                GenericArgument::Type(own) => Some(own),
                _ => None,
            }),
            _ => None,
        }),
        Type::Slice(slice) => Some(&*slice.elem),
        _ => None,
    };
    let parameter = parameter.ok_or_else(|| Error::new_spanned(table, "each is of tables and options"))?;
    match parameter {
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Box") => {
            entry(parameter)
        }
        Type::Slice(slice) => Ok(&slice.elem),
        own => Ok(own),
    }
}

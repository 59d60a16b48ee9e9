//! What wasm-bindgen makes, with less in it: nothing that makes messages of panics, and short names of imports.

use std::{collections::HashMap, convert::Infallible, fs, path::Path};

use anyhow::{Result, ensure};
use wasm_encoder::{
    CodeSection, DataSection, ExportSection, Function, ImportSection, Module,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{
    Data, DataKind, Export, FunctionBody, Import, ImportSectionReader, KnownCustom, Name, Operator, Parser, Payload,
    TypeRef,
};

/// This file, of which the package is made, too.
pub const FILE: &str = file!();

/// Parts of the names of the standard library's functions that panic. In a browser nobody hears what they say, only that
/// there was a trap.
const PANICS: [&str; 8] = [
    "core::panicking::",
    "::assert_failed",
    "::expect_failed",
    "::handle_error",
    "::panic_already_",
    "::slice_index_fail",
    "::unwrap_failed",
    "raw_vec::capacity_overflow",
];

/// Exports that nobody calls but what wasm-bindgen makes.
const CLOSURES: &str = "wasm_bindgen__convert__closures";

struct Shrink {
    /// The function whose code comes next, and which of them panic.
    next: u32,
    panics: Vec<u32>,
    /// Long names and the short ones in their place.
    renamed: HashMap<String, String>,
}

/// Replaces a module and its JavaScript.
pub fn shrink(module: &Path, script: &Path) -> Result<()> {
    let bytes = fs::read(module)?;
    let mut shrink = Shrink::new(&bytes)?;
    ensure!(
        !shrink.panics.is_empty(),
        "no function of {} panics: the standard library has other names",
        module.display()
    );
    let mut smaller = Module::new();
    shrink.parse_core_module(&mut smaller, Parser::new(0), &bytes)?;
    fs::write(module, smaller.finish())?;
    let text = fs::read_to_string(script)?;
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(|word| {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        shrink.renamed.get(name).map_or_else(|| word.to_string(), |short| format!("{short}{}", &word[name.len()..]))
    });
    fs::write(script, words.collect::<String>())?;
    Ok(())
}

impl Shrink {
    fn new(bytes: &[u8]) -> Result<Shrink> {
        let mut shrink = Shrink { next: 0, panics: Vec::new(), renamed: HashMap::new() };
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        shrink.next += u32::from(matches!(import.ty, TypeRef::Func(_)));
                        shrink.rename(import.name);
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let name = export?.name;
                        if name.starts_with(CLOSURES) {
                            shrink.rename(name);
                        }
                    }
                }
                Payload::CustomSection(section) => {
                    let KnownCustom::Name(names) = section.as_known() else { continue };
                    for names in names {
                        let Name::Function(names) = names? else { continue };
                        for name in names {
                            let name = name?;
                            shrink.panics.extend(is_panic(name.name).then_some(name.index));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(shrink)
    }

    fn rename(&mut self, name: &str) {
        let short = format!("i{}", self.renamed.len());
        self.renamed.insert(name.to_string(), short);
    }

    fn short<'a>(&'a self, name: &'a str) -> &'a str {
        self.renamed.get(name).map_or(name, String::as_str)
    }
}

/// Whether a function is one of the standard library that panics. Its crates have a hash in brackets.
fn is_panic(name: &str) -> bool {
    let plain: Vec<&str> = name.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    plain.len() > 1 && PANICS.iter().any(|panic| plain.concat().contains(panic))
}

/// Empties the places in source code that panics name: each has the address of the file's name, its length, the line and
/// the column. `start` is the address of the first byte.
fn forget_places(bytes: &mut [u8], start: usize) {
    let mut places = Vec::new();
    for at in (start.next_multiple_of(4) - start..bytes.len().saturating_sub(15)).step_by(4) {
        let [name, length, line, column] = [0, 4, 8, 12].map(|n| {
            let word = bytes[at + n..].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(word) as usize
        });
        let name = name.wrapping_sub(start)..name.wrapping_sub(start).wrapping_add(length);
        let is_file = bytes.get(name.clone()).is_some_and(|name| name.ends_with(b".rs") && name.is_ascii());
        if is_file && (1..100_000).contains(&line) && (1..1000).contains(&column) {
            places.extend([at..at + 16, name]);
        }
    }
    for place in places {
        bytes[place].fill(0);
    }
}

impl Reencode for Shrink {
    type Error = Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), Error> {
        for import in section.into_imports() {
            let Import { module, name, ty } = import?;
            let ty = self.entity_type(ty)?;
            imports.import(module, self.short(name), ty);
        }
        Ok(())
    }

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Result<(), Error> {
        let name = self.short(export.name).to_string();
        utils::parse_export(self, exports, Export { name: &name, ..export })
    }

    fn parse_data(&mut self, data: &mut DataSection, datum: Data<'_>) -> Result<(), Error> {
        let mut bytes = datum.data.to_vec();
        if let DataKind::Active { offset_expr, .. } = &datum.kind
            && let Operator::I32Const { value } = offset_expr.get_operators_reader().read()?
        {
            forget_places(&mut bytes, value as usize);
        }
        utils::parse_data(self, data, Data { data: &bytes, ..datum })
    }

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let index = self.next;
        self.next += 1;
        // What panics never comes to its end.
        if !self.panics.contains(&index) || !body.as_bytes().ends_with(&[0x00, 0x0b]) {
            return utils::parse_function_body(self, code, body);
        }
        let mut trap = Function::new([]);
        trap.instructions().unreachable().end();
        code.function(&trap);
        Ok(())
    }
}

//! Shrinks the output of wasm-bindgen: replaces functions that only panic by traps, and shortens names of imports.

use std::{collections::HashMap, convert::Infallible, fs, path::Path};

use anyhow::{Result, ensure};
use wasm_encoder::{
    CodeSection, ExportSection, Function, ImportSection, Module,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{
    BinaryReaderError, Export, FunctionBody, Import, ImportSectionReader, KnownCustom, Name,
    Operator, Parser, Payload, TypeRef,
};

/// Path of this file, which is an input of the package.
pub const FILE: &str = file!();

/// Parts of the names of the standard library's functions that panic. A browser does not show the messages of panics, only the
/// trap.
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

/// Prefixes of imports and exports that only the output of wasm-bindgen uses.
const IMPORTS: &str = "__wb";
const CLOSURES: &str = "wasm_bindgen__convert__closures";

struct Shrink {
    /// Index of the function whose code comes next.
    next: u32,
    /// Indexes of the functions that panic.
    panics: Vec<u32>,
    /// Short names by long names.
    renamed: HashMap<String, String>,
}

/// Shrinks a module and its JavaScript.
pub fn shrink(module: &Path, script: &Path) -> Result<()> {
    let bytes = fs::read(module)?;
    let mut shrink = Shrink::new(&bytes)?;
    ensure!(
        !shrink.panics.is_empty(),
        "found no panicking function in {}: the names of the standard library have changed",
        module.display()
    );
    let mut smaller = Module::new();
    shrink.parse_core_module(&mut smaller, Parser::new(0), &bytes)?;
    fs::write(module, smaller.finish())?;
    fs::write(script, shrink.rename_words(&fs::read_to_string(script)?)?)?;
    Ok(())
}

impl Shrink {
    fn new(bytes: &[u8]) -> Result<Shrink> {
        let mut shrink = Shrink {
            next: 0,
            panics: Vec::new(),
            renamed: HashMap::new(),
        };
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        shrink.next += u32::from(matches!(import.ty, TypeRef::Func(_)));
                        if import.name.starts_with(IMPORTS) {
                            shrink.rename(import.name);
                        }
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
                    let KnownCustom::Name(names) = section.as_known() else {
                        continue;
                    };
                    for names in names {
                        let Name::Function(names) = names? else {
                            continue;
                        };
                        for name in names {
                            let name = name?;
                            shrink
                                .panics
                                .extend(is_panic(name.name).then_some(name.index));
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

    /// Returns a script with short names.
    fn rename_words(&self, script: &str) -> Result<String> {
        let is_sign = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let taken = script
            .split(is_sign)
            .find(|word| self.renamed.values().any(|short| short == word));
        ensure!(
            taken.is_none(),
            "the script of wasm-bindgen already contains the name `{}`",
            taken.unwrap_or_default()
        );
        let words = script.split_inclusive(is_sign).map(|word| {
            let name = word.trim_end_matches(is_sign);
            self.renamed.get(name).map_or_else(
                || word.to_string(),
                |short| format!("{short}{}", &word[name.len()..]),
            )
        });
        Ok(words.collect())
    }

    fn short<'a>(&'a self, name: &'a str) -> &'a str {
        self.renamed.get(name).map_or(name, String::as_str)
    }
}

/// Returns whether the name is of a panicking function of the standard library. Names of its crates have a hash in brackets.
fn is_panic(name: &str) -> bool {
    let plain: Vec<&str> = name
        .split('[')
        .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest))
        .collect();
    plain.len() > 1 && PANICS.iter().any(|panic| plain.concat().contains(panic))
}

/// Returns whether a function never returns: no instruction returns or leaves the outermost block, which ends in a trap. A trap
/// instead of its code then only omits the message.
fn never_returns(body: &FunctionBody<'_>) -> Result<bool, BinaryReaderError> {
    // Number of blocks around the instruction. A branch out of this number of blocks returns.
    let mut depth = 0;
    let mut last = None;
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        let operator = operators.read()?;
        let leaves = |label: u32| label == depth;
        let returns = match &operator {
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => {
                leaves(*relative_depth)
            }
            Operator::BrTable { targets } => {
                leaves(targets.default())
                    || targets
                        .targets()
                        .collect::<Result<Vec<_>, _>>()?
                        .into_iter()
                        .any(leaves)
            }
            Operator::End if depth == 0 => return Ok(matches!(last, Some(Operator::Unreachable))),
            Operator::Return
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. } => true,
            // Instructions for references and exceptions, which no module uses yet.
            Operator::ReturnCallRef { .. }
            | Operator::TryTable { .. }
            | Operator::BrOnNull { .. } => true,
            Operator::BrOnNonNull { .. }
            | Operator::BrOnCast { .. }
            | Operator::BrOnCastFail { .. } => true,
            _ => false,
        };
        if returns {
            return Ok(false);
        }
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => depth += 1,
            Operator::End => depth -= 1,
            _ => {}
        }
        last = Some(operator);
    }
    Ok(false)
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

    fn parse_export(
        &mut self,
        exports: &mut ExportSection,
        export: Export<'_>,
    ) -> Result<(), Error> {
        let name = self.short(export.name).to_string();
        utils::parse_export(
            self,
            exports,
            Export {
                name: &name,
                ..export
            },
        )
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error> {
        let index = self.next;
        self.next += 1;
        if !self.panics.contains(&index) || !never_returns(&body)? {
            return utils::parse_function_body(self, code, body);
        }
        let mut trap = Function::new([]);
        trap.instructions().unreachable().end();
        code.function(&trap);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use wasm_encoder::{BlockType, FunctionSection, Instruction, TypeSection};

    /// Returns a module with one function, which has no parameters and no results.
    fn module(body: &[Instruction<'_>]) -> Vec<u8> {
        let mut function = Function::new([]);
        for instruction in body {
            function.instruction(instruction);
        }
        let (mut types, mut functions, mut code) = (
            TypeSection::new(),
            FunctionSection::new(),
            CodeSection::new(),
        );
        types.ty().function([], []);
        functions.function(0);
        code.function(&function);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        module.finish()
    }

    fn never(body: &[Instruction<'_>]) -> bool {
        let bytes = module(body);
        let bodies = Parser::new(0)
            .parse_all(&bytes)
            .filter_map(|payload| match payload {
                Ok(Payload::CodeSectionEntry(body)) => Some(body),
                _ => None,
            });
        bodies
            .map(|body| never_returns(&body))
            .collect::<Result<Vec<_>, _>>()
            .is_ok_and(|all| all == [true])
    }

    #[test]
    fn a_function_that_may_return_is_not_replaced() {
        use Instruction::{Block, Br, BrIf, End, I32Const, Nop, Return, Unreachable};
        let block = || Block(BlockType::Empty);
        assert!(never(&[Nop, Unreachable, End]));
        assert!(never(&[
            block(),
            I32Const(1),
            BrIf(0),
            End,
            Unreachable,
            End
        ]));
        assert!(!never(&[Nop, End]));
        assert!(!never(&[Return, Unreachable, End]));
        assert!(!never(&[I32Const(1), BrIf(0), Unreachable, End]));
        assert!(!never(&[block(), Br(1), End, Unreachable, End]));
        // The last bytes are the same as in a trap.
        assert!(!never(&[block(), Unreachable, End, Br(0), End]));
        assert!(!never(&[block(), Br(0), End, Instruction::Call(0), End]));
    }

    #[test]
    fn only_panicking_functions_of_the_standard_library_are_replaced() {
        assert!(is_panic("core[7a1b]::panicking::panic_fmt"));
        assert!(is_panic(
            "<alloc[7a1b]::vec::Vec<_>>::remove::assert_failed"
        ));
        assert!(!is_panic(
            "shelfish::panicking::core::panicking::unwrap_failed"
        ));
    }

    #[test]
    fn only_whole_names_are_shortened_and_short_names_are_unique() {
        let mut shrink = Shrink {
            next: 0,
            panics: Vec::new(),
            renamed: HashMap::new(),
        };
        shrink.rename("__wbg_get_1");
        assert_eq!(
            shrink
                .rename_words("__wbg_get_1(__wbg_get_12, x.__wbg_get_1)")
                .ok()
                .as_deref(),
            Some("i0(__wbg_get_12, x.i0)")
        );
        assert!(shrink.rename_words("const i0 = __wbg_get_1;").is_err());
    }
}

//! The places in source code that panics name, and what they say: in a browser nobody hears of them.
//!
//! A place has the address of the file's name, its length, the line and the column. What a panic says is a sentence whose
//! address and length stood side by side in the code before it was optimised. Of what looks like one only that is emptied
//! which the module cannot reach: no number in its code and no word of its data is an address in it.

use std::{convert::Infallible, fs, ops::Range, path::Path};

use anyhow::Result;
use wasm_encoder::{
    DataSection, Instruction, MemArg, Module,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{Data, DataKind, Operator, Parser, Payload};

/// This file, of which the package is made, too.
pub const FILE: &str = file!();

/// Bytes of a place.
const SIZE: usize = 16;

/// Where there may be sentences in a module that is not optimised yet.
pub fn sentences(module: &Path) -> Result<Vec<Range<usize>>> {
    let mut pairs = Pairs::default();
    pairs.parse_core_module(&mut Module::new(), Parser::new(0), &fs::read(module)?)?;
    Ok(pairs.ranges)
}

/// Empties the places of a module that is optimised already, and those of its `sentences` that are some: as long as
/// functions that only trap take one, it can be reached.
pub fn forget(module: &Path, sentences: &[Range<usize>]) -> Result<()> {
    let bytes = fs::read(module)?;
    fs::write(module, without_places(&bytes, sentences)?)?;
    Ok(())
}

fn without_places(bytes: &[u8], sentences: &[Range<usize>]) -> Result<Vec<u8>> {
    let mut numbers = Numbers::default();
    numbers.parse_core_module(&mut Module::new(), Parser::new(0), bytes)?;
    let mut segments = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::DataSection(data) = payload? {
            for datum in data {
                let datum = datum?;
                segments.push(Segment { start: start(&datum)?, bytes: datum.data.to_vec() });
            }
        }
    }
    let places: Vec<Place> = segments.iter().flat_map(|segment| segment.places(&segments)).collect();
    let mut reached = numbers.0;
    for segment in &segments {
        let words = segment.words().filter(|(at, _)| !places.iter().any(|place| place.at.contains(at)));
        reached.extend(words.map(|(_, word)| word));
    }
    reached.sort_unstable();
    let is_reached = |range: &Range<usize>| {
        let from = reached.partition_point(|address| *address < range.start);
        reached.get(from).is_some_and(|address| range.contains(address))
    };
    let (kept, gone): (Vec<Place>, Vec<Place>) = places.into_iter().partition(|place| is_reached(&place.at));
    // A name may belong to a place that stays, too, or be a part of another text.
    let overlaps = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    let names = gone.iter().map(|place| place.name.clone());
    let has_words = |range: &&Range<usize>| segments.iter().any(|part| part.text(range).is_some_and(is_sentence));
    let texts = names.chain(sentences.iter().filter(has_words).cloned());
    let texts = texts.filter(|text| !is_reached(text) && !kept.iter().any(|place| overlaps(&place.name, text)));
    let emptied = gone.iter().map(|place| place.at.clone()).chain(texts).collect();
    let mut smaller = Module::new();
    Emptied(emptied).parse_core_module(&mut smaller, Parser::new(0), bytes)?;
    Ok(smaller.finish())
}

/// Where a datum is in memory.
fn start(datum: &Data<'_>) -> Result<Option<usize>, wasmparser::BinaryReaderError> {
    let DataKind::Active { offset_expr, .. } = &datum.kind else { return Ok(None) };
    let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else { return Ok(None) };
    Ok(Some(value as u32 as usize))
}

/// Data, and where they are in memory, if that is known.
struct Segment {
    start: Option<usize>,
    bytes: Vec<u8>,
}

/// Addresses of what looks like a place, and of the name of its file.
struct Place {
    at: Range<usize>,
    name: Range<usize>,
}

impl Segment {
    /// Each aligned word, and where it is.
    fn words(&self) -> impl Iterator<Item = (usize, usize)> {
        let start = self.start.unwrap_or_default();
        let aligned = self.bytes.get(start.next_multiple_of(4) - start..).unwrap_or_default();
        let words = aligned.chunks_exact(4).map(|word| word.first_chunk().copied().unwrap_or_default());
        (start.next_multiple_of(4)..).step_by(4).zip(words.map(|word| u32::from_le_bytes(word) as usize))
    }

    fn text(&self, range: &Range<usize>) -> Option<&[u8]> {
        let start = self.start?;
        self.bytes.get(range.start.checked_sub(start)?..range.end.checked_sub(start)?)
    }

    fn places(&self, segments: &[Segment]) -> Vec<Place> {
        let words: Vec<(usize, usize)> = if self.start.is_some() { self.words().collect() } else { Vec::new() };
        let places = words.windows(4).filter_map(|words| {
            let &[(at, name), (_, length), (_, line), (_, column)] = words else { return None };
            let name = name..name.checked_add(length)?;
            let is_file = segments.iter().any(|segment| segment.text(&name).is_some_and(is_path));
            let is_place = is_file && (1..100_000).contains(&line) && (1..1000).contains(&column);
            is_place.then_some(Place { at: at..at + SIZE, name })
        });
        places.collect()
    }
}

/// Whether a text is the path of a source file.
fn is_path(text: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    text.contains(&b'/') && text.ends_with(b".rs") && text.iter().all(is_sign)
}

/// Whether a text has words. What code looks up by a number, such as digits and alphabets, has no spaces.
fn is_sentence(text: &[u8]) -> bool {
    text.contains(&b' ') && text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
}

/// Numbers side by side in code that may be the address and the length of a text.
#[derive(Default)]
struct Pairs {
    last: Option<usize>,
    ranges: Vec<Range<usize>>,
}

impl Reencode for Pairs {
    type Error = Infallible;

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, Error> {
        let number = if let Operator::I32Const { value } = operator { usize::try_from(value).ok() } else { None };
        if let (Some(start), Some(length)) = (self.last, number) {
            // What is formatted without arguments has a length of twice as much and one.
            let length = if length % 2 == 1 { [length, length / 2] } else { [length, 0] };
            self.ranges.extend(length.map(|length| start..start.saturating_add(length)));
        }
        self.last = number;
        utils::instruction(self, operator)
    }
}

/// All numbers of a module's code that may be addresses.
#[derive(Default)]
struct Numbers(Vec<usize>);

impl Reencode for Numbers {
    type Error = Infallible;

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, Error> {
        match operator {
            Operator::I32Const { value } => self.0.push(value as u32 as usize),
            // Two fields may be written at a time.
            Operator::I64Const { value } => self.0.extend([value as u32 as usize, (value >> 32) as u32 as usize]),
            _ => {}
        }
        utils::instruction(self, operator)
    }

    fn mem_arg(&mut self, argument: wasmparser::MemArg) -> Result<MemArg, Error> {
        self.0.push(argument.offset as usize);
        utils::mem_arg(self, argument)
    }

    fn parse_data(&mut self, _: &mut DataSection, _: Data<'_>) -> Result<(), Error> {
        // Where data are is nothing that code knows.
        Ok(())
    }
}

/// Empties ranges of memory.
struct Emptied(Vec<Range<usize>>);

impl Reencode for Emptied {
    type Error = Infallible;

    fn parse_data(&mut self, data: &mut DataSection, datum: Data<'_>) -> Result<(), Error> {
        let mut bytes = datum.data.to_vec();
        if let Some(start) = start(&datum)? {
            for range in &self.0 {
                let (from, to) = (range.start.saturating_sub(start), range.end.saturating_sub(start));
                bytes.get_mut(from..to).unwrap_or_default().fill(0);
            }
        }
        utils::parse_data(self, data, Data { data: &bytes, ..datum })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    use wasm_encoder::{
        CodeSection, ConstExpr, Function, FunctionSection, MemArgTarget, MemorySection, MemoryType, TypeSection,
    };

    /// Where the data are; the name comes first, then a place.
    const START: u32 = 4096;
    const NAME: &[u8; 20] = b"./crate/src/table.rs";

    fn place(name: u32, line: u32) -> Vec<u8> {
        [name, NAME.len() as u32, line, 7].iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The data of a module without its places. Its code has one number, and loads something at an offset.
    fn emptied(data: &[u8], number: i64, offset: u64) -> Vec<u8> {
        emptied_of(data, number, offset, &[])
    }

    fn emptied_of(data: &[u8], number: i64, offset: u64, sentences: &[Range<usize>]) -> Vec<u8> {
        let mut function = Function::new([]);
        let load = MemArg { offset, align: 0, target: MemArgTarget::default(), ordering: None };
        function.instructions().i64_const(number).drop().i32_const(0).i32_load(load).drop().end();
        let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([], []);
        functions.function(0);
        code.function(&function);
        let mut memories = MemorySection::new();
        memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
        let mut segments = DataSection::new();
        segments.active(0, &ConstExpr::i32_const(START as i32), data.iter().copied());
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&memories).section(&code).section(&segments);
        let smaller = without_places(&module.finish(), sentences).unwrap();
        let datum = Parser::new(0).parse_all(&smaller).find_map(|payload| match payload {
            Ok(Payload::DataSection(data)) => data.into_iter().next().map(|datum| datum.unwrap().data.to_vec()),
            _ => None,
        });
        datum.unwrap()
    }

    #[test]
    fn a_place_that_nothing_reaches_is_emptied_with_its_name() {
        let data = [NAME.to_vec(), place(START, 12), b"what follows".to_vec()].concat();
        assert_eq!(emptied(&data, 0, 0), [vec![0; 36], b"what follows".to_vec()].concat());
    }

    #[test]
    fn what_a_number_of_the_code_may_reach_stays() {
        let data = [NAME.to_vec(), place(START, 12)].concat();
        let at = i64::from(START) + 20;
        for number in [at, at + 12, at << 32, (at + 8) << 32 | 1] {
            assert_eq!(emptied(&data, number, 0), data, "{number}");
        }
        assert_eq!(emptied(&data, 0, at as u64 + 4), data);
        // The name alone.
        assert_eq!(emptied(&data, i64::from(START) + 3, 0), [NAME.to_vec(), vec![0; 16]].concat());
    }

    #[test]
    fn what_other_data_may_reach_stays() {
        let data = [NAME.to_vec(), place(START, 12), (START + 20).to_le_bytes().to_vec()].concat();
        assert_eq!(emptied(&data, 0, 0), data);
        let text = (START + 2).to_le_bytes().to_vec();
        let data = [NAME.to_vec(), place(START, 12), text.clone()].concat();
        assert_eq!(emptied(&data, 0, 0), [NAME.to_vec(), vec![0; 16], text].concat());
    }

    #[test]
    fn a_name_that_another_place_needs_stays() {
        let data = [NAME.to_vec(), place(START, 12), place(START, 13)].concat();
        let expected = [NAME.to_vec(), vec![0; 16], place(START, 13)].concat();
        assert_eq!(emptied(&data, i64::from(START) + 36, 0), expected);
    }

    #[test]
    fn a_sentence_that_nothing_reaches_is_emptied() {
        let start = START as usize;
        let sentence = start + 3..start + 9;
        let gone = |data: &[u8], number| emptied_of(data, number, 0, std::slice::from_ref(&sentence));
        assert_eq!(gone(b"notnot mineyes", 0), b"not\0\0\0\0\0\0neyes");
        // It may be reached, or is no sentence.
        assert_eq!(gone(b"notnot mineyes", i64::from(START) + 8), b"notnot mineyes");
        assert_eq!(gone(b"notnot-mineyes", 0), b"notnot-mineyes");
        assert_eq!(gone(b"notnot m\xffneyes", 0), b"notnot m\xffneyes");
    }

    #[test]
    fn what_stands_side_by_side_in_code_may_be_a_text() {
        let mut pairs = Pairs::default();
        for value in [START as i32, 5, 7] {
            pairs.instruction(Operator::I32Const { value }).unwrap();
        }
        pairs.instruction(Operator::Nop).unwrap();
        pairs.instruction(Operator::I32Const { value: 9 }).unwrap();
        let start = START as usize;
        assert_eq!(pairs.ranges, [start..start + 5, start..start + 2, 5..12, 5..8]);
    }

    #[test]
    fn what_looks_like_a_place_and_names_no_source_file_stays() {
        for name in [b"./crate/src/table.js", b"not/a/path, table.rs", b"the_name_of_table.rs"] {
            let data = [name.to_vec(), place(START, 12)].concat();
            assert_eq!(emptied(&data, 0, 0), data);
        }
        let data = [NAME.to_vec(), place(START, 0)].concat();
        assert_eq!(emptied(&data, 0, 0), data);
    }
}

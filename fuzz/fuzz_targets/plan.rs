//! Any text is a plan or an error. Any fragment gives a manifest that readers accept, or an error. A zero byte separates the two
//! inputs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::eval::PositionEval;
use shelfish::table::{Manifest, Part, WriterOptions};

#[path = "program/build.rs"]
mod build;
#[path = "program/evaluations.rs"]
mod evaluations;
#[path = "program/terminal.rs"]
mod terminal;

use evaluations::OverLimit;
use evaluations::parts::fragment::Fragment;
use evaluations::parts::plan::{MAX_PARTS, Plan, PlanErrorKind};

/// Parses a plan. Adds the identifier if the text has none, because a forger can also compute it.
fn parse(text: &[u8]) -> Option<Plan> {
    match Plan::parse(text) {
        Ok(plan) => Some(plan),
        Err(PlanErrorKind::Id { expected, found }) if found.is_empty() => {
            let end = text.iter().rposition(|&byte| byte == b'}')?;
            Plan::parse(
                format!(
                    "{},\"id\":\"{expected}\"}}",
                    std::str::from_utf8(&text[..end]).ok()?
                )
                .as_bytes(),
            )
            .ok()
        }
        Err(_) => None,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut texts = bytes.splitn(2, |byte| *byte == 0);
    let (text, table) = (
        texts.next().unwrap_or_default(),
        texts.next().unwrap_or_default(),
    );
    let Some(plan) = parse(text) else { return };
    let written = serde_json::to_vec(&plan).expect("a plan is JSON");
    let again = Plan::parse(&written).expect("what was written can be read");
    assert_eq!((again.id(), &again), (plan.id(), &plan));
    assert!(plan.parts() <= MAX_PARTS);
    for (n, boundary) in plan.boundaries().iter().enumerate() {
        assert_eq!(plan.part_of(boundary), n + 1);
        assert!(plan.keys_of(n + 1).contains(boundary) && !plan.keys_of(n).contains(boundary));
    }

    let _ = Fragment::parse(table, &plan, 0);
    let Ok(table) = serde_json::from_slice::<Part>(table) else {
        return;
    };
    // A forger can also compute the checksum.
    let forged = Fragment::new(&plan, 0, table, OverLimit::default(), 0);
    let text = forged.to_bytes().expect("a fragment is JSON");
    let Ok(fragment) = Fragment::parse(&text, &plan, 0) else {
        return;
    };
    assert_eq!(fragment, forged);
    let options = WriterOptions::default().with_inline_page_bytes(plan.inline_page_bytes);
    let Ok(manifest) = Part::join::<PositionEval>([fragment.table], &options) else {
        return;
    };
    let written = manifest
        .to_bytes::<PositionEval>()
        .expect("a manifest is JSON");
    let again = Manifest::parse::<PositionEval>(&written).expect("what was joined can be read");
    assert!(again == manifest);
});

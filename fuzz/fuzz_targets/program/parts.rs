//! Lines of parts, plans and fragments.

#[path = "../../../build-tools/shelfish/src/evaluations/parts/fragment.rs"]
pub mod fragment;
#[path = "../../../build-tools/shelfish/src/evaluations/parts/lines.rs"]
pub mod lines;
#[path = "../../../build-tools/shelfish/src/evaluations/parts/plan.rs"]
pub mod plan;

pub use plan::Plan;

//! Lists that the program reads over the network.
#![allow(dead_code)]

#[path = "../../../build-tools/shelfish/src/input/remote/checksum.rs"]
pub mod checksum;
#[path = "../../../build-tools/shelfish/src/store/upload_list.rs"]
pub mod upload_list;

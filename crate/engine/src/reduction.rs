//! Reductions of late moves.

/// Depths and move numbers in the table.
const SIZE: usize = 64;

/// Returns the binary logarithm in 1/1024, equal on every target: it uses no floating point. Each squaring yields one
/// binary digit.
const fn log2(x: usize) -> u64 {
    let mut whole = x.ilog2() as u64;
    let mut fraction = ((x as u64) << 32) >> whole;
    let mut digits = 0;
    while digits < 10 {
        fraction = ((fraction as u128 * fraction as u128) >> 32) as u64;
        whole <<= 1;
        if fraction >= 2 << 32 {
            fraction >>= 1;
            whole += 1;
        }
        digits += 1;
    }
    whole
}

const BASE: u64 = 820;
/// Divisor of the product of natural logarithms, in hundredths. The square of ln 2 is 0.48045.
const DIVISOR: u64 = 225;

const fn table() -> [[u16; SIZE]; SIZE] {
    let mut table = [[0; SIZE]; SIZE];
    let mut depth = 1;
    while depth < SIZE {
        let mut number = 1;
        while number < SIZE {
            let product = log2(depth) * log2(number) / 1_024 * 48_045 / 100_000;
            table[depth][number] = (BASE + product * 100 / DIVISOR) as u16;
            number += 1;
        }
        depth += 1;
    }
    table
}

static TABLE: [[u16; SIZE]; SIZE] = table();

/// Returns the reduction of the `number`th move, from 1, at a depth, in 1/1024 plies.
pub fn reduction(depth: i32, number: usize) -> i32 {
    i32::from(TABLE[depth.clamp(0, SIZE as i32 - 1) as usize][number.min(SIZE - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_to_one_digit() {
        for x in 1..SIZE {
            let expected = (x as f64).log2() * 1_024.0;
            assert!(
                (log2(x) as f64 - expected).abs() <= 1.0,
                "log2({x}) = {}, expected {expected}",
                log2(x)
            );
        }
    }
}

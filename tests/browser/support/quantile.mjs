/**
 * A quantile by the definition of `percentile` in build-tools/shelfish/src/summary.rs; `share` is from 0 to 1.
 * @param {number[]} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [
    sorted[Math.floor(place)],
    sorted[Math.ceil(place)],
  ];
  return below + (above - below) * (place % 1);
}

export const mean = (/** @type {number[]} */ values) =>
  values.reduce((a, b) => a + b, 0) / values.length;

/** Formats the mean, the median, the 95 % quantile and the maximum as cells of a table. */
export function spread(
  /** @type {number[]} */ values,
  /** @type {number} */ digits,
) {
  return [
    mean(values),
    ...[0.5, 0.95, 1].map((share) => quantile(values, share)),
  ]
    .map((value) => value.toFixed(digits))
    .join(" | ");
}

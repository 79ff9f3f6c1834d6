/** Writes a number with three figures or more. `digits` are those after the point of a number below ten. */
export function figure(value: number | undefined, digits: number): string {
  if (value === undefined) return '-';
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value < 10 ? digits : 1);
}

type LengthRange = [min: number, max: number];

/** Returns the lengths of the shortest and the longest text without white space that an expression matches. */
export function lengthRangeOf(source: string): LengthRange;

/** Returns the lengths of the formats of each file of the folder, in their order. */
export function readLengths(folder: string): Record<string, LengthRange[]>;

/** Pounds with 3 decimals, as exact decimal text: the contract has refused more of them. */
export const toPounds = (value: number): string => value.toFixed(3);

/** Inches with 2 decimals, as exact decimal text. */
export const toInches = (value: number): string => value.toFixed(2);

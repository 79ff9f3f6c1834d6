/** The weight and dimensions of a package, as exact decimal texts. */
export type Measures = {
  weight_lb: string;
  length_in: string | null;
  width_in: string | null;
  height_in: string | null;
};

/** Pounds with 3 decimals, as exact decimal text. The contract rejects values with more decimals. */
export const toPounds = (value: number): string => value.toFixed(3);

/** Inches with 2 decimals, as exact decimal text. */
export const toInches = (value: number): string => value.toFixed(2);

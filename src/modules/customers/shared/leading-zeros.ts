/** A customer's code that equals the code of another customer of the courier but for leading zeros. */
export type LikeCode = { position: number; user_code: string; existing: string };

/** A code that a spreadsheet can damage so: it removes the leading zeros of numbers. */
const NUMERIC = /^\d{1,20}$/;

export const isNumericCode = (userCode: string): boolean => NUMERIC.test(userCode);

/** Text for people: `code` was stored, or would be, beside `existing`. */
export const describeLikeCode = ({ user_code: code, existing }: Omit<LikeCode, 'position'>): string =>
  `The user code ${code} equals that of the existing customer ${existing} but for leading zeros, which spreadsheets remove. If they are one customer, use the code ${existing}.`;

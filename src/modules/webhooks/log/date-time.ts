import { isCalendarDate } from '../../../platform/contract/validator.js';

/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
export const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));

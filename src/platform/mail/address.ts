const MAX_ADDRESS = 254;

/** Returns whether a text is exactly one e-mail address. Profiles of earlier versions may contain unvalidated addresses. */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text);

/** The response of a success with data. */
export const reply = <Data>(message: string, data: Data) => ({ statusCode: 200 as const, message, data });

/**
 * The message of a request that changes something, unless it is so already.
 *
 * @param already what is so already, as a sentence
 */
export const outcomeOf = (isChanged: boolean, done: string, already: string): string =>
  isChanged ? done : `${already} Nothing was changed.`;

/**
 * Returns the pattern, for an assertion that nothing matches it. A wrong pattern would pass every time, so it must match
 * each of the samples: one for each alternative, from the code that produces such texts where possible.
 */
export function matching(pattern: RegExp, ...samples: [string, ...string[]]): RegExp {
  for (const sample of samples)
    if (sample.search(pattern) === -1)
      throw new Error(`${pattern} does not match the sample ${JSON.stringify(sample)}.`);
  return pattern;
}

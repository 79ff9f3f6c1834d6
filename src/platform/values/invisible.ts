/**
 * Characters that are not shown: zero-width characters, soft hyphens, variation selectors, fillers, and the marks of bidirectional
 * text. Test for ASCII before, because the classes of Unicode are slow.
 */
export const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;

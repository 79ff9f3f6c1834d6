/**
 * Code points that Unicode keeps free of characters: U+FDD0 to U+FDEF, and the last two of each plane, as UTF-16. PostgreSQL stores them,
 * but XML has no U+FFFE and U+FFFF, and U+FFFE is a byte order mark that was read in the wrong order. An alternative of an expression
 * without the flag `u`: the class of Unicode takes ten times as long.
 */
export const NONCHARACTER = String.raw`[\ufdd0-\ufdef\ufffe\uffff]|[\ud83f\ud87f\ud8bf\ud8ff\ud93f\ud97f\ud9bf\ud9ff\uda3f\uda7f\udabf\udaff\udb3f\udb7f\udbbf\udbff][\udffe\udfff]`;

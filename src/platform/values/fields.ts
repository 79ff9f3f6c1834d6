/** Returns an object with a value for each of the names. */
export const fieldsOf = <Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> =>
  // The names are those of the type.
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;

/** Returns fields under other names. */
export const renameFields = <
  const Names extends Record<string, string>,
  Fields extends Record<keyof Names, unknown>,
>(
  fields: Fields,
  names: Names,
) =>
  // Each has the value of its former name.
  Object.fromEntries(Object.entries(names).map(([name, other]) => [other, fields[name]])) as {
    -readonly [Name in keyof Names as Names[Name]]: Fields[Name];
  };

/** The statuses of a package, in the order of its way. */
export const PACKAGE_STATUSES = [
  'received',
  'shipped',
  'in_transit',
  'delivered',
  'on_hold',
  'customs_hold',
  'returned',
  'lost',
] as const;

export type PackageStatus = (typeof PACKAGE_STATUSES)[number];

/** Returns the search of a list as the query of its export, which has the statuses as one text. */
export const asQuery = <Search extends { status?: PackageStatus[] }>({ status, ...search }: Search) => ({
  ...search,
  ...(status && status.length > 0 ? { status: status.join(',') } : {}),
});

/** The shortest text that the service searches for in packages. */
export const SHORTEST_TEXT = 3;

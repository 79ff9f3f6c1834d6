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

/** The shortest text that the service searches for in packages. */
export const SHORTEST_TEXT = 3;

/** One method of an operation whose input selects what it does. */
export type Variant = {
  method: string;
  doc?: string;
  /** Input that selects the variant, as source text. */
  fixed?: string;
  /** Input of the operation that the method does not have. */
  omit?: string[];
  /** The type of the response, if the operation has several. */
  result?: string;
  repeat?: 'safe' | 'key';
};

/** Operations that become several methods. All others become one. */
export const VARIANTS: Record<string, Variant[]> = {
  listCustomers: [
    { method: 'list', omit: ['action'], result: 'CustomerPage' },
    {
      method: 'branches',
      doc: 'Returns the names of the branches of all customers.',
      fixed: "{ action: 'branches' as const }",
      omit: ['action', 'page', 'limit', 'search', 'branch', 'sort_by', 'sort_dir'],
      result: 'DistinctBranchNames',
    },
  ],
  listPackages: [
    {
      method: 'list',
      omit: ['export', 'export_format', 'action', 'package_ids'],
      result: 'PackageList',
      repeat: 'safe',
    },
    {
      method: 'dispatch',
      doc: "Queues packages for synchronisation with their courier's system: those of `package_ids`, or all that match the filters.",
      fixed: "{ action: 'queue_dispatch' as const }",
      omit: ['export', 'export_format', 'action', 'page', 'limit'],
      result: 'PackagesQueued',
    },
  ],
};

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
};

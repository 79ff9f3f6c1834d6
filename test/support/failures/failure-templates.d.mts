export type FailureBody = {
  code: string;
  doc_url?: string;
  message: string;
  errors?: { field: string; row?: number; code: string; message: string }[];
};

/** Returns what is wrong with a failure's status and messages, and which texts of openapi/errors.yaml it contains. */
export function matchFailure(status: number, body: FailureBody): { faults: string[]; texts: string[] };

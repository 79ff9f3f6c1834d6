// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { isOverdue } from './shared/bill-row.js';
export { createDraft } from './drafts/draft.js';
export { publishBill } from './publication/publish.js';

// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { assertCodesFree, countRenamed, renameOnPrealerts } from './rename/rename-customer.js';
export { finishRenames } from './rename/finish-renames.js';

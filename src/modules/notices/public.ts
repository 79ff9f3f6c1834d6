// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { hasJustFailed } from './failed-mails.js';

// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export { renameOnPrealerts } from './prealert.js';

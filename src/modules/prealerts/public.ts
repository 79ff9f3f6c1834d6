// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { prepareAnnouncements, storeAnnouncements, type Announcements } from './batches/announce.js';
export { assertCodesFree, countRenamed, renameOnPrealerts } from './rename/rename-customer.js';
export { arrivalsOf, evidenceOf, isAfterReceipt, type Arrivals } from './status/arrivals.js';
export { finishRenames } from './rename/finish-renames.js';
export { reviewPrealert } from './review.js';

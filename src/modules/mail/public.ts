// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export { queueAccountMail, type AccountMailKind } from './account-mails/queue-account-mail.js';
export { queueManifestMails } from './manifest-mails/queue-manifest-mail.js';

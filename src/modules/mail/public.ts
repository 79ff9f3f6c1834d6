// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export type { AccountMail, AccountMailKind, WebhookMailKind } from './account-mails/queries.js';
export { queueAccountMail } from './account-mails/queue-account-mail.js';
export { queueOwnerMails } from './account-mails/queue-owner-mails.js';
export { queueManifestMails } from './manifest-mails/queue-manifest-mail.js';
export { QUEUE_ATTEMPTS, sendMail, type Mail, type MailDeps } from './delivery/send-mail.js';

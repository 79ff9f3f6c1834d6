import type { MailRecipients } from '../../config/config.js';
import type { Mailer } from './send-result.js';
import type { Message } from './mime.js';

/** Returns a mailer that sends only to the allowed recipients, and everything else to one address or to nobody. */
export function restrictMailer(mailer: Mailer, { otherwiseTo, domains }: MailRecipients): Mailer {
  return {
    async send(message) {
      const { address } = message.recipient;
      if (domains.includes(domainOf(address)) || address === otherwiseTo) return mailer.send(message);
      if (otherwiseTo === undefined) return { outcome: 'blocked', reason: NOT_LISTED };
      const result = await mailer.send(redirect(message, otherwiseTo));
      return result.outcome === 'sent' ? { ...result, redirectedTo: otherwiseTo } : result;
    },
    close: mailer.close,
  };
}

const NOT_LISTED = 'staging sends mail only to STAGING_MAIL_DOMAINS and STAGING_MAIL_TO';

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** The subject names the recipient, so that a tester can distinguish the mails of all users in one mailbox. */
function redirect(message: Message, address: string): Message {
  const { recipient, subject } = message;
  return {
    ...message,
    recipient: { ...recipient, address },
    subject: `[to ${recipient.address}] ${subject}`,
  };
}

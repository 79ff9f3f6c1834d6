import MailComposer from 'nodemailer/lib/mail-composer';
import { oneLine } from './plain-text.js';

export type Message = {
  /** Equal in every attempt to send the message. It is part of the Message-ID. */
  id: string;
  /** The display name of the sender's address. */
  senderName: string;
  recipient: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  date: Date;
  /** The address that gets the answers, instead of the sender. */
  replyTo?: string | undefined;
  /** The page on which the recipient ends such mails. A POST to it ends them without a page (RFC 8058). */
  unsubscribeUrl?: string;
  attachments?: { filename: string; contentType: string; content: Buffer }[];
};

/** Returns the message as MIME (RFC 5322): ASCII only, with lines of a length that every server accepts. */
export function toMime(message: Message, from: string): Promise<Buffer> {
  const { id, senderName, recipient, subject, text, html, date, replyTo, unsubscribeUrl, attachments } =
    message;
  const composer = new MailComposer({
    from: { name: oneLine(senderName), address: from },
    to: { name: oneLine(recipient.name), address: recipient.address },
    subject: oneLine(subject),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    date,
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeUrl) },
    ...(replyTo === undefined ? {} : { replyTo: oneLine(replyTo) }),
    text,
    html,
    ...(attachments ? { attachments } : {}),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

const unsubscribeHeaders = (url: string | undefined): Record<string, string> =>
  url === undefined
    ? {}
    : { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };

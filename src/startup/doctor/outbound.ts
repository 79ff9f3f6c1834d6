import { ok, orOk, warning, type Finding } from './checks/finding.js';
import type { Subject } from './checks/subject.js';

/** Says whom the service may mail and call. */
export function checkOutbound({ config }: Subject): Finding[] {
  const { hosts } = config.outbound;
  if (hosts === undefined) return [ok('Couriers may have the service call every public host.')];
  if (hosts.length > 0)
    return [ok(`Of the hosts that couriers choose, only ${hosts.join(', ')} are called.`)];
  return [
    warning(
      'No host of a courier is called: webhooks and customer synchronisations fail.',
      'Set OUTBOUND_HOSTS to the test systems that staging may call.',
    ),
  ];
}

/** Finds staging that mails nobody, although it has a provider. */
export function checkRecipients({ config }: Subject): Finding[] {
  const { recipients, ses } = config.mail;
  if (!recipients) return [ok(ses ? 'Every recipient is mailed.' : 'No recipient is mailed.')];
  const { otherwiseTo, domains } = recipients;
  const isNobody = otherwiseTo === undefined && domains.length === 0;
  return orOk(
    isNobody
      ? [warning('Nobody is mailed: every mail is skipped.', 'Set STAGING_MAIL_TO or STAGING_MAIL_DOMAINS.')]
      : [],
    `Mail goes only to ${[...domains, otherwiseTo].filter(Boolean).join(', ')}.`,
  );
}

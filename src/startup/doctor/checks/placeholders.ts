import { warning, type Finding } from '../../shared-checks/finding.js';
import type { Subject } from './subject.js';

type Config = Subject['config'];

/** Finds what the operator has not filled in yet. Development needs none of it. */
export function findPlaceholders(config: Config): Finding[] {
  if (config.appEnv === 'development') return [];
  return [...findExampleHosts(config), ...findMissingContact(config)];
}

const findExampleHosts = (config: Config): Finding[] =>
  Object.entries(valuesOf(config)).flatMap(([setting, values]) =>
    values
      .map(hostOf)
      .filter(isExample)
      .map((host) =>
        warning(
          `${setting} has the host ${host}, which is only for examples.`,
          'Set it to your own host. Nobody can use that one.',
        ),
      ),
  );

/** The settings that contain hosts, addresses of mail or URLs. */
const valuesOf = ({ mail, passwordResetUrl, publicUrl, securityContacts, outbound, tracing }: Config) => ({
  MAIL_FROM: [mail.from],
  PASSWORD_RESET_URL: given(passwordResetUrl),
  PUBLIC_URL: given(publicUrl),
  SECURITY_CONTACT: securityContacts,
  STAGING_MAIL_TO: given(mail.recipients?.otherwiseTo),
  STAGING_MAIL_DOMAINS: mail.recipients?.domains ?? [],
  OUTBOUND_HOSTS: outbound.hosts ?? [],
  SES_ENDPOINT: given(mail.ses?.endpoint),
  OTEL_EXPORTER_OTLP_ENDPOINT: given(tracing?.tracesUrl),
});

const given = (value: string | undefined): string[] => (value === undefined ? [] : [value]);

/** Returns the host of a URL or an address of mail, or the text itself. */
const hostOf = (text: string): string =>
  text
    .replace(/^https?:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/^.*@/, '')
    .replace(/:\d+$/, '');

/** RFC 2606 reserves these names. */
const isExample = (host: string): boolean => /(^|\.)example(\.(com|net|org))?$/i.test(host);

const findMissingContact = ({ securityContacts }: Config): Finding[] =>
  securityContacts.length > 0
    ? []
    : [
        warning(
          'SECURITY_CONTACT is empty, so /.well-known/security.txt does not say who is told about a vulnerability.',
          'Set it to an e-mail address or a URL that somebody reads.',
        ),
      ];

-- upgrade: rolling
-- reviewed: constraint account_mails.account_mails_kind_is_known_check added: it accepts all that the one that it replaces accepts.
-- A mail to the owners of a courier whose data go elsewhere (docs/decisions/0135). Not validated: all rows have older kinds.
alter table account_mails drop constraint kind_is_known;
alter table account_mails add constraint account_mails_kind_is_known_check check (kind in ('new_network', 'password_changed',
  'password_reset', 'password_reset_by_admin', 'password_reset_link', 'two_factor_enabled', 'two_factor_disabled',
  'two_factor_reset_by_admin', 'backup_codes_regenerated', 'email_changed', 'courier_redirected')) not valid;

-- upgrade: rolling
-- reviewed: policy lookup_reads on users dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: policy lookup_reads on couriers dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: function suspect_passwords(uuid[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: function suspect_authenticators(uuid[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: function couriers_with_keys(text[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: right execute on suspect_passwords(uuid[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: right execute on suspect_authenticators(uuid[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- reviewed: right execute on couriers_with_keys(text[]) dropped: no release before this one has it: it came with the migration 20261213000000_published_credentials.
-- The login that serves requests may execute what crossdock_app may. These functions returned password hashes, encrypted authenticator
-- secrets and couriers of all tenants to it, without a scope. No release has called them. A start now reads each tenant in its own scope.
drop function suspect_passwords(uuid[]);
drop function suspect_authenticators(uuid[]);
drop function couriers_with_keys(text[]);

-- No other function of crossdock_lookup reads users or couriers.
drop policy lookup_reads on users;
drop policy lookup_reads on couriers;
revoke select (tenant_id, id, username, password_hash, totp_secret) on users from crossdock_lookup;
revoke select (tenant_id, code, api_key_hash) on couriers from crossdock_lookup;

<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * Keeps the access token of a user between requests. Implement it for your cache, or use FileTokenStore.
 */
interface TokenStore
{
    /**
     * Returns the stored token, or null if there is none.
     */
    public function load(): ?string;

    public function save(#[\SensitiveParameter] string $token): void;
}

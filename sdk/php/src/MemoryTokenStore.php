<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * Keeps the token as long as the PHP process runs.
 */
final class MemoryTokenStore implements TokenStore
{
    private ?string $token = null;

    public function load(): ?string
    {
        return $this->token;
    }

    public function save(#[\SensitiveParameter] string $token): void
    {
        $this->token = $token;
    }
}

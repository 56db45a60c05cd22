"""The outside world, read into RelationalData."""

"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# No test depends on the clock: a busy machine must not fail one.
settings.register_profile(
    "clearwood", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("clearwood")

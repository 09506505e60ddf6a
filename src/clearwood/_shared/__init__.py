"""What every package of Clearwood may use: errors, messages, progress, lazy imports."""

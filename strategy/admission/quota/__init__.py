"""Quotas: what objects use up, and which quotas count them. Shared by the plugin ResourceQuota and the quota controller."""

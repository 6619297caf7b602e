"""Passes over ncnn's layers, after the lowering."""
